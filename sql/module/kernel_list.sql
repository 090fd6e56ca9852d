-- One row is a row of module.statistic_row and the names of its kernels as one text.
--
-- position     BIGINT   a row of module.statistic_row
-- kernel_list  VARCHAR  the names joined by ', ': compute, communication (by type), copy, schedule, each by start
SELECT statistic_row.position, string_agg(coalesce(string.text, '(name lost)'), ', ' ORDER BY part.ordinality) AS kernel_list
FROM module.statistic_row
CROSS JOIN unnest(statistic_row.kernel_ids) WITH ORDINALITY AS part (text_id, ordinality)
LEFT JOIN trace.string ON string.text_id = part.text_id
GROUP BY statistic_row.position
