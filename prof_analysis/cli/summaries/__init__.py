"""The output of `ranks`, `tables`, `sql` and `store ls`."""
