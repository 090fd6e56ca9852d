-- One row is a kind, name, type, core, input shapes, input types and duration of kernels, and the number of kernels with all of
-- these.
--
-- @columns kind to input_types_id as in kernels.by_shapes
-- duration_ns      BIGINT   end - start of each
-- kernel_count     BIGINT   kernels
SELECT
    selected.kind,
    selected.name_id,
    selected.type_id,
    selected.core_id,
    kernel.input_shapes_id,
    kernel.input_types_id,
    selected.duration_ns,
    count(*) AS kernel_count
FROM kernels.selected
JOIN trace.kernel USING (kernel_id)
GROUP BY ALL
