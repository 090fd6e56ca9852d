-- One row is a peak published for a product, which includes the work of its vector cores.
--
-- product     VARCHAR  the product, named by its FP16 peak; for an A3, one of its two dies
-- core_count  BIGINT   cube cores by which the product is known
-- clock_mhz   BIGINT   rated clock by which the product is known, MHz
-- data_type   VARCHAR  as in mfu.rate
-- tflops      DOUBLE   10^12 operations per second
--
-- The source is the device table of Huawei's model tool msmodeling (tensor_cast/device.py). These are its assumptions, not a
-- data sheet.
WITH product (product, core_count, clock_mhz, fp16, bf16, fp32, int8) AS (
    VALUES
        ('376T', 24, 1800, 376, 353.9, 99.5, 752),
        ('313T', 20, 1800, 313, 294.9, 83, 626),
        ('280T', 20, 1500, 280, 245.8, 75, 560)
)
SELECT
    product,
    core_count::BIGINT AS core_count,
    clock_mhz::BIGINT AS clock_mhz,
    data_type,
    tflops::DOUBLE AS tflops
FROM product UNPIVOT (tflops FOR data_type IN (fp16, bf16, fp32, int8))
