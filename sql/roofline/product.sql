-- One row is how fast the memory and the links of a GPU are by its data sheet; of an MI250X, which is two devices, half.
--
-- product      VARCHAR  the product
-- pattern      VARCHAR  the regular expression that its name in a profile matches
-- memory_gb_s  DOUBLE   bandwidth of its memory, 10^9 bytes per second
-- link_gb_s    DOUBLE   bandwidth of its links to the other devices of its node, in one direction, 10^9 bytes per second; NULL
--                       where it has none, and where that depends on the server
-- source       VARCHAR  where the figures are published
--
-- Data sheets count both directions of links. A part of a device has less of both.
SELECT
    product,
    pattern,
    memory_gb_s::DOUBLE AS memory_gb_s,
    link_gb_s::DOUBLE AS link_gb_s,
    source
FROM (
    VALUES
        ('NVIDIA V100 SXM', 'V100-SXM', 900, 150, 'NVIDIA V100 data sheet'),
        ('NVIDIA V100', 'V100-(PCI|DGXS|FHHL)', 900, NULL, 'NVIDIA V100 data sheet'),
        ('NVIDIA T4', '\bT4$', 320, NULL, 'NVIDIA T4 data sheet'),
        ('NVIDIA A10', '\bA10G?$', 600, NULL, 'NVIDIA A10 data sheet'),
        ('NVIDIA A30', '\bA30$', 933, NULL, 'NVIDIA A30 data sheet'),
        ('NVIDIA A100 SXM 40GB', 'A100-SXM4?-40', 1555, 300, 'NVIDIA A100 data sheet'),
        ('NVIDIA A100 SXM 80GB', 'A100-SXM4?-80', 2039, 300, 'NVIDIA A100 data sheet'),
        ('NVIDIA A100 PCIe 40GB', 'A100-PCI.*40', 1555, NULL, 'NVIDIA A100 data sheet'),
        ('NVIDIA A100 PCIe 80GB', 'A100 80GB PCI', 1935, NULL, 'NVIDIA A100 data sheet'),
        ('NVIDIA H100 SXM', 'H100.*(HBM3|SXM)', 3350, 450, 'NVIDIA H100 data sheet'),
        ('NVIDIA H100 PCIe', 'H100 PCIe', 2000, NULL, 'NVIDIA H100 data sheet'),
        ('NVIDIA H100 NVL', 'H100 NVL', 3900, NULL, 'NVIDIA H100 data sheet'),
        ('NVIDIA H200', 'H200( SXM.*)?$', 4800, 450, 'NVIDIA H200 data sheet'),
        ('NVIDIA H200 NVL', 'H200 NVL', 4800, NULL, 'NVIDIA H200 data sheet'),
        ('NVIDIA B200', '\bB200', 7700, 900, 'NVIDIA DGX B200 data sheet'),
        ('NVIDIA L4', '\bL4$', 300, NULL, 'NVIDIA L4 data sheet'),
        ('NVIDIA L40S', '\bL40S', 864, NULL, 'NVIDIA L40S data sheet'),
        ('AMD Instinct MI210', 'MI210', 1638, NULL, 'AMD Instinct MI210 data sheet'),
        ('AMD Instinct MI250X', 'MI250X', 1638, NULL, 'AMD Instinct MI250X data sheet'),
        ('AMD Instinct MI300X', 'MI300X', 5325, 448, 'AMD Instinct MI300X data sheet'),
        ('AMD Instinct MI325X', 'MI325X', 6000, 448, 'AMD Instinct MI325X data sheet'),
        ('AMD Instinct MI350X', 'MI350X', 8000, 537, 'AMD Instinct MI350X data sheet'),
        ('AMD Instinct MI355X', 'MI355X', 8000, 537, 'AMD Instinct MI355X data sheet')
) AS products (product, pattern, memory_gb_s, link_gb_s, source)
