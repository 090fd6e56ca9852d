-- Calls of Python functions that were asked for and not recorded.
SELECT
    profile,
    'note' AS severity,
    'the timeline shows no calls of Python functions, as none are recorded; record with with_stack=True' AS sentence
FROM timeline.host_track
WHERE getvariable('python_frames')
GROUP BY profile
HAVING sum(frame_count) = 0
ORDER BY profile
