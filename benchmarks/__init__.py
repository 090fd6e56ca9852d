"""Measures the main job on generated profiles; see README.md beside this file."""
