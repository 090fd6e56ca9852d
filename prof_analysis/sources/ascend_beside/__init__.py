"""What lies beside the exports of a rank: what the profiler worked out itself, device information, switches."""
