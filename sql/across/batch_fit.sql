-- One row is a rank with passes, where batches of msServiceProfiler are given, and the stream of batches that fits best:
-- whether its clock fits that of the rank, so that batches and passes are joined by time. It does if 90 % of the passes lie in
-- batches of their own, and 90 % of these hold what the pass holds.
--
-- profile       VARCHAR  the folder, the identity of the rank
-- rank_id       INTEGER  the rank; NULL when the files name none
-- stream        VARCHAR  as in across.service_batch, '' when not recorded; NULL where none was recorded at the time of a pass
-- pass_count    BIGINT   passes of the rank at the time of the stream
-- inside_count  BIGINT   of them, those that lie in a batch of their own
-- known_count   BIGINT   of these, those whose requests or tokens are known on both sides
-- alike_count   BIGINT   of these, those that hold as many
-- is_fit        BOOLEAN  whether the clocks fit
-- reason        VARCHAR  why not; NULL where they do
WITH threshold AS (
    SELECT 0.9::DOUBLE AS least_share
),
served AS (
    SELECT DISTINCT profile, rank_id
    FROM pass.time
    WHERE EXISTS (FROM across.service_batch)
),
counted AS (
    SELECT
        profile,
        stream,
        count(*) AS pass_count,
        count(*) FILTER (is_inside) AS inside_count,
        count(*) FILTER (is_inside AND is_alike IS NOT NULL) AS known_count,
        count(*) FILTER (is_inside AND is_alike) AS alike_count
    FROM across.batch_candidate
    GROUP BY profile, stream
),
content AS (
    SELECT coalesce(batch.stream, '') AS stream, list(DISTINCT request ORDER BY request) AS requests
    FROM across.batch_request
    JOIN across.service_batch AS batch USING (batch_id)
    GROUP BY coalesce(batch.stream, '')
),
-- Ranks that compute the same batch together (TP) have streams with the same requests: any of them will do.
ranked AS (
    SELECT
        counted.*,
        row_number() OVER (PARTITION BY profile ORDER BY alike_count DESC, inside_count DESC, stream) AS place,
        count(DISTINCT content.requests) OVER (PARTITION BY profile, alike_count, inside_count) AS content_count
    FROM counted
    LEFT JOIN content USING (stream)
),
judged AS (
    SELECT
        served.*,
        ranked.stream,
        coalesce(pass_count, 0) AS pass_count,
        coalesce(inside_count, 0) AS inside_count,
        coalesce(known_count, 0) AS known_count,
        coalesce(alike_count, 0) AS alike_count,
        CASE
            WHEN stream IS NULL THEN 'no batch was recorded at the time of a pass'
            WHEN inside_count < least_share * pass_count
                THEN format('{} of {} passes lie in a batch of their own', inside_count, pass_count)
            WHEN known_count = 0 THEN 'neither requests nor tokens are known on both sides'
            WHEN alike_count < least_share * known_count
                THEN format('{} of {} passes hold what their batch holds', alike_count, known_count)
            WHEN content_count > 1 THEN 'several processes recorded batches that fit alike'
        END AS reason
    FROM served
    LEFT JOIN ranked ON ranked.profile = served.profile AND ranked.place = 1
    -- All pairs: the threshold is one row.
    CROSS JOIN threshold
)
SELECT profile, rank_id, stream, pass_count, inside_count, known_count, alike_count, reason IS NULL AS is_fit, reason
FROM judged
ORDER BY rank_id NULLS LAST, profile
