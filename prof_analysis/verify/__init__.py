"""Runs msprof-analyze beside prof-analysis on the same ranks, and compares its rows with ours."""
