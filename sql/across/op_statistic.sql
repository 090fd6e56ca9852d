-- One row is a framework op and its input shapes with the calls and what they cost over all ranks, the heaviest on the device
-- first; with --filter, only ops that it chooses. What several ranks share of one host, such as the devices of one database,
-- counts once.
--
-- @sum calls, host_self_ns, kernel_count, device_self_ns
--
-- @columns name to launches as in across.op_by_shape
FROM across.op_by_shape
WHERE is_chosen(name) OR is_chosen(launches)
ORDER BY device_self_ns DESC, host_self_ns DESC, name, input_shapes
