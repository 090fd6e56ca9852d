-- One row is a class of the base that is likely called otherwise in the new run: in a matched module each has one that the
-- other lacks, with like names, the same ops or like modules inside. It is applied only where the user gives it as an alias.
--
-- base  VARCHAR  name of the class in the base
-- new   VARCHAR  its name in the new run
-- run   VARCHAR  the run that is compared with the base
WITH suggested AS (
    SELECT
        run,
        unnest(
            suggested_aliases(
                {'parents': base.parents, 'names': base.names, 'keys': base.keys},
                {'parents': new.parents, 'names': new.names, 'keys': new.keys},
                getvariable('alias')
            ),
            recursive := true
        )
    FROM runs.module_tree AS base
    JOIN runs.module_tree AS new USING (run, pair)
    WHERE base.side = 'base' AND new.side = 'new'
)
SELECT base, min(new) AS new, run
FROM suggested
GROUP BY run, base
ORDER BY run, base
