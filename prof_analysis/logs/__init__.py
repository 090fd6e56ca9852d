"""Answers from logs in place of profiles."""
