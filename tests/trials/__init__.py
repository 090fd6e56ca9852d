"""Damaged profiles: what the trials say of an answer, and 60 of their cases."""
