"""Ops and modules of replayed graphs by recordings of their capture, for all sources: what a capture holds, which capture a
graph was made of, and the rows of its replays."""
