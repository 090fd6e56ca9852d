-- One row is a peak that is published for a product, the work of its vector cores included.
--
-- product     VARCHAR  the product, as its name gives the FP16 peak; of an A3, one of its two dies
-- core_count  BIGINT   cube cores that tell the product
-- clock_mhz   BIGINT   rated clock that tells the product, MHz
-- data_type   VARCHAR  as in mfu.rate
-- tflops      DOUBLE   10^12 operations a second
--
-- The source is the device table of Huawei's model tool msmodeling (tensor_cast/device.py). It assumes these; it is no data
-- sheet.
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
