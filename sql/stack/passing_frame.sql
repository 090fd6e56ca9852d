-- One row is a frame that tells no work apart, which a list of the user's places need not have: code of PyTorch or of Python
-- itself, or a frame that only calls another one. Without any frame of the user's there is none.
--
-- frame   VARCHAR  file, line and function
-- reason  VARCHAR  framework, or one frame inside: a frame of the user's that it calls, perhaps through the framework, has 99 %
--                  of its time on the device and on the host, or more
--
-- A frame that is twice in a stack counts where it is outermost.
WITH used_frame AS (
    SELECT DISTINCT frame
    FROM stack.frame
),
named_frame AS (
    SELECT frame, is_frame_of_framework(frame) AS is_framework
    FROM used_frame
),
own_frame AS (
    SELECT stack_id, frame, max(depth) AS depth
    FROM stack.frame
    JOIN named_frame USING (frame)
    WHERE NOT named_frame.is_framework
    GROUP BY stack_id, frame
),
call AS (
    SELECT stack_id, frame, lag(frame) OVER (PARTITION BY stack_id ORDER BY depth) AS inside
    FROM own_frame
),
cost AS (
    SELECT stack_id, sum(device_ns) AS device_ns, sum(host_ns) AS host_ns
    FROM stack.chosen
    WHERE frames IS NOT NULL
    GROUP BY stack_id
),
part AS (
    SELECT call.frame, call.inside, sum(cost.device_ns) AS device_ns, sum(cost.host_ns) AS host_ns
    FROM call
    JOIN cost USING (stack_id)
    GROUP BY call.frame, call.inside
),
compared AS (
    SELECT
        *,
        sum(device_ns) OVER (PARTITION BY frame) AS all_device_ns,
        sum(host_ns) OVER (PARTITION BY frame) AS all_host_ns
    FROM part
)
SELECT frame, 'framework' AS reason
FROM named_frame
WHERE is_framework AND EXISTS (FROM own_frame)
UNION ALL
SELECT DISTINCT frame, 'one frame inside'
FROM compared
WHERE inside IS NOT NULL AND device_ns * 100 >= all_device_ns * 99 AND host_ns * 100 >= all_host_ns * 99
ORDER BY frame
