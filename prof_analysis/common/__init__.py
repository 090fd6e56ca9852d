"""What all rooms use: errors, options, files."""
