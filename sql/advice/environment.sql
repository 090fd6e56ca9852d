-- One row is a rank and what an environment variable of its run costs, by the value that the profile records.
-- Requires kernels, settings.
--
-- profile to sql as in advice.finding_of_rank
WITH setting AS (
    SELECT
        profile,
        rank_id,
        effect,
        count(*) AS setting_count,
        string_agg(name, ', ' ORDER BY name) AS names,
        string_agg(format('{} is {}', name, TRY_CAST(value AS BIGINT)), ', ' ORDER BY name) AS name_values
    FROM trace.setting
    WHERE effect IS NOT NULL
    GROUP BY profile, rank_id, effect
),
-- What of its idle time the device waits for calls and ops of the host.
idle AS (
    SELECT profile, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause
    WHERE cause NOT IN (
        'garbage collection',
        'data loading',
        'kernels of another step',
        'waiting for another stream or event',
        'unknown after the launch',
        'edge of the recording'
    )
    GROUP BY profile
),
-- A faster host makes no kernel faster: it wins this idle time, and no more.
bound AS (
    SELECT setting.*, if(setting.effect <> 'fixes the algorithm', coalesce(idle.total_ns, 0), NULL) AS idle_ns
    FROM setting
    LEFT JOIN idle ON idle.profile = setting.profile
)
SELECT
    profile,
    rank_id,
    CASE effect
        WHEN 'launches wait' THEN 'Each launch waits for the device'
        WHEN 'logs much' THEN 'The runtime logs more than errors'
        WHEN 'keeps few ops' THEN 'The runtime keeps fewer prepared ops than it does by itself'
        WHEN 'fixes the algorithm' THEN 'The algorithm of collectives is fixed'
    END AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    if(
        idle_ns IS NULL,
        names || ' is set: collectives do not choose their algorithm by size and by number of ranks',
        name_values || format(': it costs time on the host, and the device waits for the host for {}', shown_time(idle_ns))
    ) AS evidence,
    setting_count AS count,
    idle_ns AS time_ns,
    if(effect = 'launches wait', idle_ns, NULL) AS win_ns,
    if(effect = 'launches wait', 'upper bound', 'hint') AS kind,
    'Unset ' || names || CASE effect
        WHEN 'launches wait' THEN ': it is for finding errors, since launches then no longer run ahead of the device.'
        WHEN 'logs much' THEN ', or set it to 3 (errors), and record again.'
        WHEN 'keeps few ops' THEN '; where shapes vary much, raise it above its default of 10000.'
        WHEN 'fixes the algorithm' THEN ', and compare the collectives of both runs with `prof-analysis communication-stats`.'
    END AS what_to_do,
    'docs/rules.md#environment' AS doc,
    'SELECT name, value, effect, rank_id FROM trace.setting WHERE effect IS NOT NULL ORDER BY name, rank_id LIMIT 20' AS sql
FROM bound
