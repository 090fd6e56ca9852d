-- Domains that were given but have no ranges in any rank: a mistyped name, or marks of another run.
SELECT
    NULL::VARCHAR AS profile,
    'warning' AS severity,
    '--module-domain ' || domain || ': no rank has ranges of this domain; the domains with ranges are '
    || coalesce(string_agg(DISTINCT domains, ', ' ORDER BY domains), 'none')
    || if(getvariable('module_source') = 'auto', '; modules come from the Python tracer', '') AS sentence
FROM module.chosen_domain
WHERE domain <> 'Module' AND getvariable('module_source') <> 'nn.Module'
GROUP BY domain
HAVING sum(range_count) = 0
ORDER BY domain
