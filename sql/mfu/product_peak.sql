-- One row is a peak in the data sheet of a GPU, without sparsity, for a device that a profile names: of an MI250X, which is two
-- devices, half.
--
-- @guard trace.op_input
--
-- product     VARCHAR  the product
-- pattern     VARCHAR  the regular expression that its name in a profile matches
-- core_count  BIGINT   its cores (streaming multiprocessors, compute units); a part of a device has fewer; NULL when not known
-- data_type   VARCHAR  as in mfu.op_shape
-- tflops      DOUBLE   10^12 operations per second
-- source      VARCHAR  where the figures are published
--
-- With sparsity the sheets have twice these figures; some have only those, which are halved
-- here. FP32 and FP64 are those of the matrix cores where these have them, else of the vector cores.
WITH product (product, pattern, core_count, fp16, bf16, fp8, int8, tf32, fp32, fp64, source) AS (
    VALUES
        ('NVIDIA A100', 'A100', 108, 312, 312, NULL, 624, 156, 19.5, 19.5, 'NVIDIA A100 data sheet'),
        ('NVIDIA H100 SXM', 'H100.*(HBM3|SXM)', 132, 989.4, 989.4, 1978.9, 1978.9, 494.7, 66.9, 66.9,
            'NVIDIA H100 Tensor Core GPU Architecture white paper'),
        ('NVIDIA H100 PCIe', 'H100 PCIe', 114, 756, 756, 1513, 1513, 378, 51.2, 51.2,
            'NVIDIA H100 Tensor Core GPU Architecture white paper'),
        ('NVIDIA H100 NVL', 'H100 NVL', 132, 835.5, 835.5, 1670.5, 1670.5, 417.5, 60, 60, 'NVIDIA H100 data sheet'),
        ('NVIDIA H200 NVL', 'H200 NVL', 132, 835.5, 835.5, 1670.5, 1670.5, 417.5, 60, 60, 'NVIDIA H200 data sheet'),
        ('NVIDIA H200', 'H200( SXM.*)?$', 132, 989.5, 989.5, 1979, 1979, 494.5, 67, 67, 'NVIDIA H200 data sheet'),
        ('NVIDIA B200', '\bB200', 148, 2250, 2250, 4500, 4500, 1100, 75, 37, 'NVIDIA HGX B200 data sheet'),
        ('NVIDIA L4', '\bL4$', 58, 121, 121, 242.5, 242.5, 60, 30.3, NULL, 'NVIDIA L4 data sheet'),
        ('NVIDIA L40S', '\bL40S', 142, 362.05, 362.05, 733, 733, 183, 91.6, NULL, 'NVIDIA L40S data sheet'),
        ('AMD Instinct MI210', 'MI210', 104, 181, 181, NULL, 181, NULL, 45.3, 45.3, 'AMD Instinct MI210 data sheet'),
        ('AMD Instinct MI250X', 'MI250X', 110, 191.5, 191.5, NULL, 191.5, NULL, 47.85, 47.85, 'AMD Instinct MI250X data sheet'),
        ('AMD Instinct MI300X', 'MI300X', 304, 1307.4, 1307.4, 2614.9, 2614.9, 653.7, 163.4, 163.4,
            'AMD Instinct MI300X data sheet'),
        ('AMD Instinct MI325X', 'MI325X', 304, 1307.4, 1307.4, 2614.9, 2614.9, 653.7, 163.4, 163.4,
            'AMD Instinct MI325X data sheet'),
        ('AMD Instinct MI350X', 'MI350X', 256, 2306.9, 2306.9, 4613.7, 4613.7, NULL, 144.2, 72.1,
            'AMD Instinct MI350X data sheet'),
        ('AMD Instinct MI355X', 'MI355X', 256, 2516.6, 2516.6, 5033.2, 5033.2, NULL, 157.3, 78.6,
            'AMD Instinct MI355X data sheet')
)
SELECT
    product,
    pattern,
    core_count::BIGINT AS core_count,
    data_type,
    tflops::DOUBLE AS tflops,
    source
FROM product UNPIVOT (tflops FOR data_type IN (fp16, bf16, fp8, int8, tf32, fp32, fp64))
