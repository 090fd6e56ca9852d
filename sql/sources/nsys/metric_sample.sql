-- Units are in the names of metrics; up to 2021 they were not, except that clocks had the same ones.
WITH metric AS (
    SELECT
        text_id AS name,
        contains(text, 'Clock Frequency') AS is_clock,
        CASE
            WHEN contains(text, 'Clock Frequency') THEN 'MHz'
            WHEN contains(text, '%]') THEN '%'
            WHEN regexp_matches(text, '\[(Requests|Avg.*)\]$') THEN 'count'
        END AS unit
    FROM trace.string
    WHERE text_id IN (SELECT DISTINCT name FROM raw.metric_sample)
)
SELECT
    sample.device_id,
    sample.name AS metric_id,
    metric.unit,
    sample.start_ns AS time_ns,
    if(metric.is_clock, mhz_of_metric(sample.value), sample.value) AS value
FROM raw.metric_sample AS sample
JOIN metric USING (name)
WHERE sample.value IS NOT NULL AND is_moment(sample.start_ns)
