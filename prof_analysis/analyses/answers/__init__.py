"""The analyses, a file for each: what it asks, requires and writes, and the function that answers."""
