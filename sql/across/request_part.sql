-- One row is a part of the median of a latency of requests: where a pass of the median time spends it, and the rest. The parts
-- of a latency add up to its median, to the ns. Such a pass exists: a median is a time that occurs.
--
-- latency      VARCHAR  ttft, itl or tpot, as in across.request_latency
-- part         VARCHAR  of the pass on the device: computing, communication alone, copying alone, idle; before it, for itl and
--                       tpot: kernels between passes, idle between passes (the device waits for the host); for ttft, queue:
--                       what the request of this latency waited, where that is known, at most what the pass leaves; and the
--                       rest, which lies in no pass of this kind: host, network, other passes, and a queue that is not known
-- duration_ns  BIGINT   time of the part, ns; the rest is below 0 where a pass takes longer than the latency: it generates
--                       several tokens of a request, or other load was recorded
-- share        DOUBLE   part of the median; NULL where that is 0
WITH pass_kind AS (
    SELECT *, phase = 'decode' AS is_decode, if(phase = 'decode', cycle_ns, duration_ns) AS whole_ns
    FROM pass.time
    WHERE is_steady AND phase IN ('prefill', 'mixed', 'decode')
),
-- The first of those that have the median time.
usual AS (
    SELECT pass_kind.*, latency.latency, latency.median_ns
    FROM across.request_latency AS latency
    JOIN pass_kind
        ON pass_kind.is_decode = (latency.latency <> 'ttft')
        AND pass_kind.whole_ns = latency.pass_median_ns
    WHERE latency.median_ns IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY latency.latency ORDER BY profile, pass_id) = 1
),
queued AS (
    SELECT ttft_ns AS median_ns, min_by(queue_ns, request_id) AS queue_ns
    FROM across.request
    GROUP BY ttft_ns
),
timed AS (
    SELECT
        usual.*,
        CASE WHEN latency = 'ttft' AND queued.queue_ns IS NOT NULL
            THEN greatest(0, least(queued.queue_ns, usual.median_ns - whole_ns))
        END AS queue_ns
    FROM usual
    LEFT JOIN queued USING (median_ns)
),
part AS (
    SELECT
        latency,
        median_ns,
        unnest([
            {'place': 1, 'part': 'computing', 'duration_ns': computing_ns},
            {'place': 2, 'part': 'communication alone', 'duration_ns': communication_not_overlapped_ns},
            {'place': 3, 'part': 'copying alone', 'duration_ns': copying_not_overlapped_ns},
            {'place': 4, 'part': 'idle', 'duration_ns': idle_ns},
            {
                'place': 5,
                'part': 'kernels between passes',
                'duration_ns': if(is_decode, gap_before_ns - idle_before_ns, NULL)
            },
            {'place': 6, 'part': 'idle between passes', 'duration_ns': if(is_decode, idle_before_ns, NULL)},
            {'place': 7, 'part': 'queue', 'duration_ns': queue_ns},
            {'place': 8, 'part': 'rest', 'duration_ns': median_ns - whole_ns - coalesce(queue_ns, 0)}
        ], recursive := true)
    FROM timed
)
SELECT latency, part, duration_ns, duration_ns / nullif(median_ns, 0) AS share
FROM part
WHERE duration_ns IS NOT NULL
ORDER BY list_position(['ttft', 'itl', 'tpot'], latency), place
