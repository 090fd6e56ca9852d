-- One row is a data type and what a cube core does with it in a cycle: the same for all chips since the Ascend 910.
--
-- data_type             VARCHAR  fp16, bf16, int8, hf32, fp32
-- operations_per_cycle  BIGINT   multiplications and additions of one core in one cycle
--
-- A cube multiplies 16 x 16 by 16 x 16 in a cycle in fp16, half as long products in hf32, a quarter in fp32, twice in int8. The
-- counters of real kernels (work / mac cycles) reach 8,107, 4,027 and 2,012 of these.
FROM (VALUES ('fp16', 8192), ('bf16', 8192), ('int8', 16384), ('hf32', 4096), ('fp32', 2048)) AS rate (data_type, rate)
SELECT data_type, rate::BIGINT AS operations_per_cycle
