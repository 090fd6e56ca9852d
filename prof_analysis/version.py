"""The version of prof-analysis."""

__version__ = "0.1.0"
