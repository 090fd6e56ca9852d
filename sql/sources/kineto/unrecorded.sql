SELECT what::ENUM('calls', 'collections', 'communication tasks', 'planes', 'links', 'ops') AS what, reason
FROM (
    VALUES
        ('calls', 'no calls of the runtime of the device; record with ProfilerActivity.CUDA'),
        ('collections', 'torch.profiler does not record it'),
        ('communication tasks', 'a collective is one kernel on a GPU, which does not show when it waits'),
        ('links', '; record it again with ProfilerActivity.CPU and ProfilerActivity.CUDA'),
        ('ops', 'no ops; record with ProfilerActivity.CPU')
) AS list (what, reason)
