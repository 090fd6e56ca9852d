-- One row is the grouped matmuls of a step and module.
--
-- @guard trace.grouped_matmul
--
-- step_id        BIGINT   step, as in experts.call; NULL when of no step, and without steps
-- module         VARCHAR  path of the module; NULL outside modules
-- kernel_count   BIGINT   grouped matmuls
-- duration_ns    BIGINT   their time, ns
-- row_count      BIGINT   rows that their experts share; of a buffer that is not full, its length; NULL when not known for all
-- expert_count   BIGINT   experts of each; NULL when not known, and where they differ
-- min_row_count  BIGINT   fewest rows of one of them; NULL when not known for any
-- max_row_count  BIGINT   most rows of one of them; NULL when not known for any
SELECT
    step_id,
    module,
    count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    if(count(row_count) = count(*), sum(row_count)::BIGINT, NULL) AS row_count,
    if(count(expert_count) = count(*) AND count(DISTINCT expert_count) = 1, min(expert_count), NULL) AS expert_count,
    min(row_count) AS min_row_count,
    max(row_count) AS max_row_count
FROM experts.call
GROUP BY step_id, module
ORDER BY step_id NULLS LAST, duration_ns DESC, module
