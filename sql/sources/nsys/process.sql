SELECT coalesce(min(pid), 0) AS pid
FROM raw.nvtx_op
