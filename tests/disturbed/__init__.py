"""What must not change an answer, and what may only make it less, with a word: order, names, numbers, neighbours, cuts."""
