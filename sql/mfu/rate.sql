-- One row is a data type and the operations of a cube core with it per cycle: the same for all chips since the Ascend 910.
--
-- data_type             VARCHAR  fp16, bf16, int8, hf32, fp32
-- operations_per_cycle  BIGINT   multiplications and additions of one core in one cycle
--
-- In a cycle a cube multiplies 16 x 16 by 16 x 16 in fp16; the products are half as long in hf32, a quarter in fp32, and twice
-- as long in int8. The counters of real kernels (work / mac cycles) reach 8,107 in fp16, 4,027 in hf32 and 2,012 in fp32.
FROM (VALUES ('fp16', 8192), ('bf16', 8192), ('int8', 16384), ('hf32', 4096), ('fp32', 2048)) AS rate (data_type, rate)
SELECT data_type, rate::BIGINT AS operations_per_cycle
