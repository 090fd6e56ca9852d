"""What is kept of earlier questions: the store, its entries and folders."""
