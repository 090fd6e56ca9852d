"""One module per input format. Each stages raw tables; the SQL under sql/sources/<name>/ makes the trace tables of them."""
