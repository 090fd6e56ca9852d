SELECT globalTid AS tid, startNs AS start_ns, endNs AS end_ns
FROM raw.gc_record
WHERE is_host_time(startNs, endNs)
