-- One row is all logs and what their lines are.
--
-- logs           BIGINT  logs
-- lines          BIGINT  lines
-- announcements  BIGINT  lines of durations; a line into which several processes wrote counts once for each
-- other_lines    BIGINT  other lines, which are skipped
-- processes      BIGINT  processes that wrote durations
SELECT
    count(*) AS logs,
    coalesce(sum(line_count), 0)::BIGINT AS lines,
    coalesce(sum(announcement_count), 0)::BIGINT AS announcements,
    coalesce(sum(other_line_count), 0)::BIGINT AS other_lines,
    coalesce(sum(process_count), 0)::BIGINT AS processes
FROM vllm.log
