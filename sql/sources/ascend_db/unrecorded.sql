SELECT what::ENUM('calls', 'collections', 'communication tasks', 'planes', 'links', 'ops') AS what, reason
FROM (
    VALUES
        ('calls', 'no calls into CANN; collect with Level1 or higher'),
        ('collections', 'none was recorded; gc_detect_threshold records those that take longer than it says'),
        ('communication tasks', 'profiler_level was Level0, or trace_view.json is missing'),
        ('planes', 'profiler_level was Level0'),
        ('links', '(CONNECTION_IDS, or flows in trace_view.json); parse it again'),
        ('ops', 'no ops; collect with CPU activity in a process of torch_npu')
) AS list (what, reason)
