-- Functions of kernels, domains and names of ranges, modules, communicators and names of counters are texts of their own.
WITH text_in_name AS (
    SELECT function_of_kernel(text) AS text
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.device_work)
    UNION
    SELECT
        unnest([
            domain_of_annotation(text),
            name_in_domain(text),
            class_of_traced_module(text),
            module_in_nvtx(text),
            last_name_of_module(module_in_nvtx(text))
        ]) AS text
    FROM raw.string
    WHERE text_id IN (
        SELECT name FROM raw.nvtx_range
        UNION
        SELECT name FROM raw.nvtx_mark
    ) OR starts_with(text, 'FSDP::')
    UNION
    SELECT communicator
    FROM raw.nccl_call
    UNION
    SELECT unnest(['default', 'blocks per SM', 'warps per SM', 'registers per thread', 'shared memory']) AS text
)
FROM raw.string
UNION ALL
SELECT text_id(text_in_name.text) AS text_id, text_in_name.text
FROM text_in_name
ANTI JOIN raw.string USING (text)
WHERE text_in_name.text IS NOT NULL
