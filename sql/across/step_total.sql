-- One row is all steps over all ranks: where their time went on the device. Steps that are recorded only in part, and kernels
-- of no step, are only in the columns ranks_of_profiler to steps_known_in_part, and kernels_of_no_step.
--
-- computing_ns                     BIGINT  time with a compute kernel, ns; NULL when there are no whole steps
-- communication_ns                 BIGINT  time with a communication operator, ns; NULL when there are no whole steps
-- communication_not_overlapped_ns  BIGINT  time with a communication operator and no compute kernel, ns; NULL when there are no
--                                          whole steps
-- overlapped_ns                    BIGINT  time with both, ns; NULL when there are no whole steps
-- free_ns                          BIGINT  idle time, with neither, ns; NULL when there are no whole steps
-- stage_ns                         BIGINT  from the first start to the last end without the bubble, ns; NULL when there are no
--                                          whole steps
-- bubble_ns                        BIGINT  time waiting for another pipeline stage, ns; NULL when there are no whole steps
-- ranks_of_profiler                BIGINT  ranks without kernels, whose times the profiler worked out
-- computing_of_no_step_ns          BIGINT  time of compute kernels outside all steps, ns
-- steps_known_in_part              BIGINT  steps that the profiler recorded only in part
-- copying_not_overlapped_ns        BIGINT  time with a copy and neither a compute kernel nor a communication operator, ns; NULL
--                                          when there are no whole steps
-- kernels_of_no_step               BIGINT  kernels outside all steps
SELECT
    sum(computing_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS computing_ns,
    sum(communication_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS communication_ns,
    sum(communication_not_overlapped_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS communication_not_overlapped_ns,
    sum(overlapped_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS overlapped_ns,
    sum(free_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS free_ns,
    sum(stage_ns)::BIGINT AS stage_ns,
    sum(bubble_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS bubble_ns,
    count(DISTINCT profile) FILTER (origin = 'profiler') AS ranks_of_profiler,
    coalesce(sum(computing_ns) FILTER (stage_ns IS NULL AND origin = 'kernels'), 0)::BIGINT AS computing_of_no_step_ns,
    count(*) FILTER (stage_ns IS NULL AND origin = 'profiler') AS steps_known_in_part,
    sum(copying_not_overlapped_ns) FILTER (stage_ns IS NOT NULL)::BIGINT AS copying_not_overlapped_ns,
    coalesce(sum(kernel_count) FILTER (stage_ns IS NULL AND origin = 'kernels'), 0)::BIGINT AS kernels_of_no_step
FROM step.time
