-- One row is a log and what its lines are.
--
-- log                 VARCHAR  the log, as it was given
-- line_count          BIGINT   lines
-- announcement_count  BIGINT   lines of durations; a line into which several processes wrote counts once for each
-- other_line_count    BIGINT   other lines, which are skipped
-- unread_count        BIGINT   lines of durations that cannot be read, or only in part
-- process_count       BIGINT   processes that wrote durations
WITH announced AS (
    SELECT
        log_number,
        count(*) AS announcement_count,
        count(DISTINCT line_number) AS line_count,
        count(*) FILTER (NOT is_whole) AS unread_count,
        count(DISTINCT coalesce(process, '')) FILTER (len(durations) > 0) AS process_count
    FROM vllm.announcement
    GROUP BY log_number
)
SELECT
    log.log,
    log.line_count,
    coalesce(announced.announcement_count, 0) AS announcement_count,
    log.line_count - coalesce(announced.line_count, 0) AS other_line_count,
    coalesce(announced.unread_count, 0) AS unread_count,
    coalesce(announced.process_count, 0) AS process_count
FROM raw.log AS log
LEFT JOIN announced USING (log_number)
ORDER BY log_number
