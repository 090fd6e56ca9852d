-- One row is a kernel that ran as a part of a replayed graph.
--
-- kernel_id  BIGINT  a kernel of trace.kernel
SELECT kernel_id
FROM trace.kernel
WHERE model_id IS NOT NULL
