"""What `ranks`, `tables`, `sql` and `store ls` print."""
