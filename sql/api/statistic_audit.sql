-- One row is a layer and name of host calls with their number and time as the profiler itself reported them
-- (api_statistic.csv), next to those of the calls that the profile holds, over all steps; what differs most comes first.
-- Without that file, or without calls, there are no rows.
--
-- @guard trace.reported_host_call
--
-- @columns level to name_id as in trace.reported_host_call
-- recorded_count  BIGINT   calls that the profiler reported
-- call_count      BIGINT   calls that the profile holds
-- recorded_ns     BIGINT   time of the calls that the profiler reported, ns
-- calls_ns        BIGINT   time of the calls that the profile holds, ns
-- agrees          BOOLEAN  whether the numbers are equal, and the times as well but for the rounding of each call and of the
--                          sum to 10 ns
WITH held AS (
    SELECT level, name_id, count(*) AS call_count, sum(duration_ns)::BIGINT AS calls_ns
    FROM trace.host_api
    GROUP BY level, name_id
),
compared AS (
    SELECT
        recorded.level,
        recorded.name_id,
        recorded.call_count AS recorded_count,
        coalesce(held.call_count, 0) AS call_count,
        recorded.total_ns AS recorded_ns,
        coalesce(held.calls_ns, 0) AS calls_ns
    FROM trace.reported_host_call AS recorded
    LEFT JOIN held ON held.name_id = recorded.name_id AND held.level IS NOT DISTINCT FROM recorded.level
    WHERE EXISTS (FROM trace.host_api)
)
SELECT
    compared.*,
    recorded_count = call_count AND abs(recorded_ns - calls_ns) <= 10 * (recorded_count + 1) AS agrees
FROM compared
LEFT JOIN trace.string AS name ON name.text_id = compared.name_id
ORDER BY agrees, abs(recorded_ns - calls_ns) DESC, abs(recorded_count - call_count) DESC, level, name.text
