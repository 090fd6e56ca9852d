-- One row is a module that runs again inside the backward, to save memory.
--
-- @guard module.recomputed
-- @title A module runs again in the backward
-- @evidence {count} calls run again for the backward: {computing_ns} of compute kernels[, and {communication_ns} of
--     communication][; right before them the device is idle for {idle_ns}][; at the peak {left_bytes} of {memory_bytes} are
--     left]{is_limit_unknown?; the memory of the device is not recorded|}{is_memory_unknown?; memory is not recorded
--     (profile_memory=True)|}
-- @kind upper bound
-- @remedy Where memory allows, checkpoint fewer layers, or only what is cheap to run again for the memory it saves, such as
--     activations and norms (selective recomputation: a context_fn of torch.utils.checkpoint, --recompute-granularity selective
--     of Megatron<< and MindSpeed||>>).
-- @query SELECT computing_ns, idle_ns, call_count, module, parent_module FROM module.recomputed ORDER BY computing_ns DESC
--     LIMIT 20
-- @counts kernels
-- @requires modules
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- computing_ns       BIGINT   time of their compute kernels, ns
-- communication_ns   BIGINT   of their communication, ns; NULL without any
-- idle_ns            BIGINT   idle time of the device right before their kernels, ns; NULL without any
-- left_bytes         BIGINT   memory of the device that is left at the peak, bytes; NULL when not known
-- memory_bytes       BIGINT   memory of the device, bytes; NULL when not known
-- is_limit_unknown   BOOLEAN  whether memory is recorded, and not how much the device has
-- is_memory_unknown  BOOLEAN  whether memory is not recorded
--
-- A module runs again in the backward (activation checkpointing). The win is an upper bound: the time of the kernels and
-- collectives that run again, and the idle time of the device right before them, since without recomputation the host does not
-- launch them either. If memory is recorded, the evidence says how much is left at the peak: that decides how many layers can
-- do without recomputation. Table: module.recomputed.
WITH left_over AS (
    SELECT profile, min(left_bytes) AS left_bytes, min(memory_bytes) AS memory_bytes
    FROM across.memory_rank
    GROUP BY profile
)
SELECT
    recomputed.profile,
    recomputed.rank_id,
    concat_ws('/', nullif(recomputed.parent_module, ''), recomputed.module) AS module,
    recomputed.call_count AS count,
    recomputed.computing_ns + recomputed.communication_ns + recomputed.idle_ns AS time_ns,
    recomputed.computing_ns + recomputed.communication_ns + recomputed.idle_ns AS win_ns,
    recomputed.computing_ns,
    if(recomputed.communication_ns > 0, recomputed.communication_ns, NULL) AS communication_ns,
    if(recomputed.idle_ns > 0, recomputed.idle_ns, NULL) AS idle_ns,
    left_over.left_bytes,
    left_over.memory_bytes,
    left_over.left_bytes IS NULL AND left_over.profile IS NOT NULL AS is_limit_unknown,
    left_over.profile IS NULL AS is_memory_unknown
FROM module.recomputed
LEFT JOIN left_over USING (profile)
