SELECT coalesce(min(pid), 0) AS pid
FROM raw.cpu_op
