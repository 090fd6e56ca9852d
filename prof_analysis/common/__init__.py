"""Errors, options and files, which all rooms use."""
