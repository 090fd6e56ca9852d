SELECT coalesce(min(globalTid) >> 32, 0) AS pid
FROM raw.framework_op
