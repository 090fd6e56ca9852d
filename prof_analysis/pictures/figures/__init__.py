"""Pictures: each function takes rows of tables and returns a plotly figure. Notebooks and the report show the same ones."""
