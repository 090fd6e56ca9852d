-- One row is a framework op and its input shapes with its calls and their cost, the largest own device time first; with
-- --filter, only ops that it chooses, by their name or launches. With a step chosen, only calls that started in that step
-- count. The wrappers of profiler steps are left out, and records of a launch such as aclnnMm count as a part of the op around
-- them.
--
-- @sum calls, host_self_ns, kernel_count, device_self_ns
--
-- @columns name_id to launches as in op.by_shape
SELECT by_shape.*
FROM op.by_shape
LEFT JOIN trace.string AS name ON name.text_id = by_shape.name_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = by_shape.input_shapes_id
WHERE is_chosen(name.text) OR is_chosen(by_shape.launches)
ORDER BY device_self_ns DESC, host_self_ns DESC, name.text, input_shapes.text
