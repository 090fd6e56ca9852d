-- One row is a pass and a stream of batches of msServiceProfiler that was recorded at its time, with the batch of the stream in
-- which the middle of the pass lies on the host. Drafts, dummies and captures are left out.
--
-- profile      VARCHAR  the folder, the identity of the rank
-- rank_id      INTEGER  the rank; NULL when the files name none
-- pass_id      BIGINT   a pass of pass.time whose time on the host is known
-- stream       VARCHAR  as in across.service_batch, '' when not recorded
-- batch_id     BIGINT   a batch of it in which the model ran; NULL where none is at this moment
-- is_inside    BOOLEAN  whether the pass lies in that batch, as no other pass of the rank does: to 10 us, or to 1 ms where the
--                       batches are recorded in whole ms
-- is_alike     BOOLEAN  whether both hold as many requests, or where these are not known, as many tokens; NULL when neither is
--                       known
WITH served AS (
    SELECT
        profile,
        rank_id,
        pass_id,
        request_count,
        token_count,
        host_start_ns,
        host_start_ns + host_ns AS host_end_ns,
        host_start_ns + host_ns // 2 AS middle_ns
    FROM pass.time
    WHERE host_start_ns IS NOT NULL AND (phase IS NULL OR phase IN ('prefill', 'decode', 'mixed'))
),
ran AS (
    SELECT coalesce(stream, '') AS stream, start_ns, end_ns, batch_id
    FROM across.service_batch
    WHERE name = 'modelExec'
),
begun AS (
    SELECT stream, start_ns, max(end_ns) AS end_ns, arg_max(batch_id, (end_ns, batch_id)) AS batch_id
    FROM ran
    GROUP BY stream, start_ns
),
recorded AS (
    SELECT
        stream,
        min(start_ns) AS first_ns,
        max(end_ns) AS last_ns,
        if(bool_and(start_ns % 1_000_000 = 0), 1_000_000, 10_000) AS tolerance_ns
    FROM begun
    GROUP BY stream
),
at_time AS (
    SELECT served.*, recorded.stream, recorded.tolerance_ns
    FROM served
    -- All pairs: a process of the server is a stream, and these are few.
    JOIN recorded ON served.middle_ns BETWEEN recorded.first_ns AND recorded.last_ns
),
placed AS (
    SELECT
        at_time.*,
        if(at_time.middle_ns <= begun.end_ns, begun.batch_id, NULL) AS batch_id,
        at_time.host_start_ns >= begun.start_ns - tolerance_ns AND at_time.host_end_ns <= begun.end_ns + tolerance_ns
            AS is_covered
    FROM at_time
    ASOF LEFT JOIN begun ON begun.stream = at_time.stream AND at_time.middle_ns >= begun.start_ns
)
SELECT
    placed.profile,
    placed.rank_id,
    placed.pass_id,
    placed.stream,
    placed.batch_id,
    placed.batch_id IS NOT NULL AND is_covered
        AND count(*) OVER (PARTITION BY placed.profile, placed.stream, placed.batch_id) = 1 AS is_inside,
    coalesce(placed.request_count = batch.request_count, placed.token_count = batch.token_count) AS is_alike
FROM placed
LEFT JOIN across.service_batch AS batch USING (batch_id)
ORDER BY placed.profile, placed.pass_id, placed.stream
