-- One row is an op in a module that takes the host of a rank longer than the hosts of the other ranks, the largest difference
-- first: of the ranks that others wait for; where they wait for none, of all ranks. Only ranks whose ops are recorded count.
--
-- @guard several ranks
--
-- rank_id          INTEGER  the rank; NULL when the files name none
-- op               VARCHAR  name of the op, or of a range that loads data; NULL when the profile lost its text
-- module           VARCHAR  path of the innermost module around it, names joined by '/'; NULL outside modules
-- more_ns          DOUBLE   host_ns - others_ns
-- host_ns          DOUBLE   its time on the host in a step, ns; without that of the ops directly inside it, except for what
--                           loads data
-- others_ns        DOUBLE   the median of the other ranks, ns; 0 where most of them do not call it
-- call_count       DOUBLE   calls in a step
-- others_calls     DOUBLE   the median of the other ranks; 0 likewise
-- is_slow          BOOLEAN  whether others wait for the rank; NULL when not known
-- profile          VARCHAR  the folder, the identity of the rank
WITH rank AS (
    SELECT slow_rank.profile, slow_rank.rank_id, slow_rank.step_count, slow_rank.is_slow
    FROM across.slow_rank
    WHERE slow_rank.profile IN (SELECT profile FROM op.of_module)
),
size AS (
    SELECT count(*) AS rank_count, coalesce(bool_or(is_slow), false) AS has_slow
    FROM rank
),
per_step AS (
    SELECT
        rank.profile,
        rank.rank_id,
        rank.is_slow,
        of_module.name,
        of_module.module,
        of_module.is_loading,
        of_module.host_ns / rank.step_count AS host_ns,
        of_module.call_count / rank.step_count AS call_count
    FROM rank
    JOIN op.of_module USING (profile)
),
of_all AS (
    SELECT
        name,
        module,
        is_loading,
        list(host_ns ORDER BY host_ns) FILTER (host_ns > 0) AS host_times,
        list(call_count ORDER BY call_count) AS call_counts
    FROM per_step
    GROUP BY name, module, is_loading
),
compared AS (
    SELECT
        per_step.*,
        median_of_others(coalesce(of_all.host_times, []), size.rank_count, per_step.host_ns) AS others_ns,
        median_of_others(of_all.call_counts, size.rank_count, per_step.call_count) AS others_calls,
        size.has_slow
    FROM per_step
    CROSS JOIN size
    JOIN of_all
        ON of_all.name IS NOT DISTINCT FROM per_step.name
        AND of_all.module IS NOT DISTINCT FROM per_step.module
        AND of_all.is_loading = per_step.is_loading
)
SELECT
    rank_id,
    name AS op,
    module,
    host_ns - others_ns AS more_ns,
    host_ns,
    others_ns,
    call_count,
    others_calls,
    is_slow,
    profile
FROM compared
WHERE host_ns > others_ns AND (is_slow OR NOT has_slow)
ORDER BY more_ns DESC, profile, op, module
