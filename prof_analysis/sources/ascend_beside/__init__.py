"""Reads files next to the exports of a rank: figures that the profiler computed itself, device information, switches."""
