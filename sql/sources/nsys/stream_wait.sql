WITH call AS (FROM raw.runtime_call),
work AS (FROM raw.device_work),
family AS (FROM trace.kernel_family),
string AS (FROM trace.string)
FROM stream_waits_of_gpu(call, work, family, string)
