-- One row is a run of which no module has a partner in the base, although both have modules.
--
-- run  VARCHAR  the run that is compared with the base
SELECT run
FROM runs.module_match
GROUP BY run
HAVING list_sort(list(DISTINCT rule)) = ['only base', 'only new']
ORDER BY run
