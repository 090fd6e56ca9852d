-- One row is an mstx domain that was chosen for modules, and how many ranges it has.
--
-- domain       VARCHAR  the domain
-- range_count  BIGINT   start/end ranges in it that may be modules
-- domains      VARCHAR  all domains with such ranges, joined by ', '; NULL without any
WITH recorded_domain AS (
    SELECT domain.text AS domain, count(*) AS range_count
    FROM trace.range
    JOIN trace.string AS domain ON domain.text_id = range.domain_id
    WHERE range.is_module_candidate
    GROUP BY domain.text
)
SELECT
    chosen.domain,
    coalesce(recorded_domain.range_count, 0) AS range_count,
    (SELECT string_agg(domain, ', ' ORDER BY domain) FROM recorded_domain) AS domains
FROM unnest(getvariable('module_domains')) AS chosen (domain)
LEFT JOIN recorded_domain USING (domain)
ORDER BY chosen.domain
