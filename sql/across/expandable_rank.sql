-- One row is a rank whose allocator has expandable segments in force: its settings say so, or a segment of its snapshot is one.
--
-- profile  VARCHAR  folder of the rank
SELECT DISTINCT profile
FROM trace.setting
-- Knows npu_alloc_conf: users set it by this name.
WHERE name = 'PYTORCH_NPU_ALLOC_CONF' AND contains(lower(replace(value, ' ', '')), 'expandable_segments:true')
UNION
SELECT profile
FROM trace.memory_segment
WHERE is_expandable
