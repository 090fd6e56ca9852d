-- One row is a duration in a line of a log.
--
-- log_number      BIGINT   number of the log, in the order in which they were given
-- line_number     BIGINT   line in the log, from 1
-- record_number   BIGINT   number of the announcement in the line, from 1
-- duration_index  BIGINT   index of the duration in the announcement, from 1
-- process         VARCHAR  who wrote it, such as IntegratedWorker pid=1502285; NULL where the line names nobody
-- phase           VARCHAR  such as Decode; NULL where the line names none
-- stage           VARCHAR  such as forward
-- duration_ns     BIGINT   how long the stage took, ns
-- is_first_tenth  BOOLEAN  whether it is in the first tenth of this stage in its process and phase; NULL where there are fewer
--                          than 10
-- is_last_tenth   BOOLEAN  whether it is in the last tenth; NULL where there are fewer than 10
WITH named_record AS (
    SELECT
        log_number,
        line_number,
        record_number,
        generate_subscripts(durations, 1) AS duration_index,
        process,
        phase,
        regexp_extract(
            unnest(durations), '^\[(.*)\]\s*:\s*([0-9.eE+-]+)\s*(us|µs|μs|ms|s)$', ['stage', 'number', 'unit'], 's'
        ) AS duration
    FROM vllm.announcement
),
in_ns AS (
    SELECT
        * EXCLUDE (duration),
        trim(duration.stage) AS stage,
        TRY((
            TRY_CAST(duration.number AS DECIMAL(27, 9))
            * CASE duration.unit WHEN 's' THEN 1000000000 WHEN 'ms' THEN 1000000 ELSE 1000 END
        )::BIGINT) AS duration_ns
    FROM named_record
),
numbered_record AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY log_number, process, phase, stage ORDER BY line_number, record_number, duration_index
        ) AS position,
        count(*) OVER (PARTITION BY log_number, process, phase, stage) AS count_of_all
    FROM in_ns
    WHERE duration_ns IS NOT NULL
)
SELECT
    log_number,
    line_number,
    record_number,
    duration_index,
    process,
    phase,
    stage,
    duration_ns,
    if(count_of_all < 10, NULL, position <= count_of_all // 10) AS is_first_tenth,
    if(count_of_all < 10, NULL, position > count_of_all - count_of_all // 10) AS is_last_tenth
FROM numbered_record
