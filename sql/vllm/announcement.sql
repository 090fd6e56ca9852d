-- One row is a `Profile execute duration [...]: ...` in a log: one step of a process, with the durations of its stages; or an
-- iteration of vllm.iteration, whose one stage is named iteration.
--
-- log_number     BIGINT     number of the log, in the order in which they were given
-- line_number    BIGINT     line in the log, from 1
-- record_number  BIGINT     number of the announcement in the line, from 1: processes that write at the same time share lines;
--                           of iterations from 1,000,001
-- process        VARCHAR    who wrote it, such as IntegratedWorker pid=1502285; NULL where the line names nobody
-- phase          VARCHAR    such as Decode; NULL where the line names none
-- durations      VARCHAR[]  each such as [forward]:4.14ms
-- is_whole       BOOLEAN    whether it has durations and all of them can be read
WITH plain_line AS (
    SELECT
        log_number,
        line_number,
        string_split(
            -- Without the colours of terminals.
            regexp_replace(line, '\x1b\[[0-9;:?]*[ -/]*[@-~]', '', 'g'),
            'Profile execute duration'
        ) AS parts
    FROM raw.stage_line
),
announcement AS (
    SELECT
        log_number,
        line_number,
        parts,
        unnest(range(1, len(parts))) AS record_number
    FROM plain_line
),
parsed_line AS (
    SELECT
        log_number,
        line_number,
        record_number,
        -- The last process named before it: a line can begin with what another process wrote.
        regexp_extract_all(parts[record_number], '\(([^()]*\bpid=\d+[^()]*)\)', 1)[-1] AS process,
        -- Names can hold pairs of brackets. The phase can be missing.
        regexp_extract(
            parts[record_number + 1],
            '^\s*(?:\[((?:[^\[\]]|\[[^\[\]]*\])*)\])?\s*:(.*)',
            ['phase', 'durations'],
            's'
        ) AS fields
    FROM announcement
)
SELECT
    log_number,
    line_number,
    record_number,
    process,
    nullif(trim(fields.phase), '') AS phase,
    regexp_extract_all(
        fields.durations,
        '\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*:\s*\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(?:us|µs|μs|ms|s)\b'
    ) AS durations,
    len(durations) > 0
    AND NOT regexp_matches(
        list_reduce(durations, lambda rest, one: replace(rest, one, ''), fields.durations), '^\s*\[|\]\s*:'
    ) AS is_whole
FROM parsed_line
UNION ALL
SELECT
    log_number,
    line_number,
    1000000 + record_number,
    process,
    phase,
    if(duration_ns IS NULL, [], [format('[iteration]:{}us', (duration_ns / 1000)::DECIMAL(27, 3))]),
    duration_ns IS NOT NULL
FROM vllm.iteration
