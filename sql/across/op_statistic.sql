-- One row is a framework op and its input shapes with its calls and their cost over all ranks, the heaviest on the device
-- first; with --filter, only ops that it chooses. Records that several ranks share on one host, such as the devices of one
-- database, count once.
--
-- @sum calls, host_self_ns, kernel_count, device_self_ns
--
-- @columns name to launches as in across.op_by_shape
FROM across.op_by_shape
WHERE is_chosen(name) OR is_chosen(launches)
ORDER BY device_self_ns DESC, host_self_ns DESC, name, input_shapes
