-- One row is a rule of advice and which time its win counts, so that two findings that count the same are known.
--
-- rule   VARCHAR  the rule: a table of advice
-- time   VARCHAR  kernels (of its module, op and type), host (idle time, each part of it in one such rule), idle (idle time
--                 whatever the host did), transfers (of communication), ranks (what ranks wait for each other), steps (all of
--                 some steps), none (no win)
FROM (
    VALUES
        ('ai_cpu', 'kernels'),
        ('allocator_stall', 'host'),
        ('block_dim', 'kernels'),
        ('byte_alignment', 'transfers'),
        ('compiling_launches', 'idle'),
        ('contention', 'kernels'),
        ('cube_idle', 'none'),
        ('data_loading', 'host'),
        ('environment', 'idle'),
        ('expert_imbalance', 'ranks'),
        ('exposed_communication', 'transfers'),
        ('first_steps', 'none'),
        ('format_conversion', 'kernels'),
        ('full_precision', 'kernels'),
        ('garbage_collection', 'host'),
        ('graph_fallback', 'idle'),
        ('hf32_off', 'kernels'),
        ('host_copy', 'host'),
        ('late_host', 'ranks'),
        ('launch_bound', 'host'),
        ('low_clock', 'kernels'),
        ('memory_bound', 'kernels'),
        ('memory_fragmentation', 'none'),
        ('memory_growth', 'none'),
        ('memory_limit', 'none'),
        ('no_bound', 'kernels'),
        ('op_compilation', 'host'),
        ('out_of_memory', 'none'),
        ('pipeline_bubble', 'ranks'),
        ('python_between_ops', 'host'),
        ('recomputation', 'kernels'),
        ('retransmission', 'transfers'),
        ('scalar_bound', 'kernels'),
        ('slow_link', 'transfers'),
        ('slow_matmul', 'kernels'),
        ('slow_rank', 'ranks'),
        ('slow_start', 'none'),
        ('small_messages', 'transfers'),
        ('stage_imbalance', 'ranks'),
        ('sync_batch_norm', 'idle'),
        ('synchronise', 'host'),
        ('uneven_steps', 'steps'),
        ('unexplained_idle', 'host'),
        ('unfused_chain', 'kernels'),
        ('unlike_layer', 'kernels'),
        ('waiting', 'ranks')
) AS counted (rule, time)
ORDER BY rule
