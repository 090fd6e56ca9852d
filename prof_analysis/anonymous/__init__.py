"""What identifies people and machines, and what stands in its place."""
