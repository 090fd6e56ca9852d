"""Pictures of answers, and the report that holds them."""
