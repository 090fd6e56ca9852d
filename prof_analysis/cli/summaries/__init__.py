"""The output of `ranks`, `tables`, `sql` and `cache ls`."""
