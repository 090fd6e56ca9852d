SELECT what::ENUM('calls', 'collections', 'communication tasks', 'planes', 'links', 'ops') AS what, reason
FROM (
    VALUES
        ('calls', 'no calls of the runtime of the device; record with nsys profile --trace=cuda,nvtx'),
        ('collections', 'Nsight Systems does not record it'),
        ('communication tasks', 'a collective is one kernel on a GPU, which does not show when it waits'),
        ('links', '; record it again with nsys profile --trace=cuda,nvtx and torch.autograd.profiler.emit_nvtx()'),
        ('ops', 'no ops; put torch.autograd.profiler.emit_nvtx() around the steps')
) AS list (what, reason)
