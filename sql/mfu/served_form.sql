-- One row is a description of a kernel or an op that is an attention over a cache of keys, or an attention of inference.
--
-- shape_id  BIGINT   a description of mfu.shape, or an op of mfu.op_shape
-- form      VARCHAR  family of the kernel, as in mfu.shape, or form of the op, as in mfu.op_form
--
-- Where there is none, as in training, the large statements of mfu.served_shape and mfu.served_reading need not be planned.
SELECT shape_id, family AS form
FROM mfu.shape
WHERE family IN ('inference attention', 'paged attention')
UNION ALL
SELECT shape_id, form
FROM mfu.op_shape
WHERE form IN ('paged attention', 'latent attention')
