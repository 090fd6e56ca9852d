-- One row is a module path with its kernel time compared over the ranks that have it. The backward of a path is a row of its
-- own, [Backward] before the name. The modules whose own time differs most come first, so that a difference shows in the module
-- where it arises.
--
-- parent_module       VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module              VARCHAR  class name of the module, with [Backward] before it in the backward
-- rank_count          BIGINT   ranks that have it; ranks that lack it are only in lacking_rank_count
-- lacking_rank_count  BIGINT   ranks that have modules, but not this one
-- own_mean_ns         DOUBLE   mean of the kernel time launched by ops directly in the module, ns
-- own_stddev_ns       DOUBLE   its standard deviation over these ranks, ns; 0 for one rank
-- own_min_ns          BIGINT   shortest, ns
-- own_min_profile     VARCHAR  folder of the rank with this time; of several the first by name
-- own_min_rank_id     INTEGER  id of that rank; NULL when the files name none
-- own_max_ns          BIGINT   longest, ns
-- own_max_profile     VARCHAR  folder of the rank with this time; of several the first by name
-- own_max_rank_id     INTEGER  id of that rank; NULL when the files name none
-- own_max_to_mean     DOUBLE   own_max_ns / own_mean_ns; NULL when that is 0
-- mean_ns             DOUBLE   mean of the kernel time of the module and all modules inside it, ns
-- stddev_ns           DOUBLE   its standard deviation over these ranks, ns; 0 for one rank
-- min_ns              BIGINT   shortest, ns
-- min_profile         VARCHAR  folder of the rank with this time; of several the first by name
-- min_rank_id         INTEGER  id of that rank; NULL when the files name none
-- max_ns              BIGINT   longest, ns
-- max_profile         VARCHAR  folder of the rank with this time; of several the first by name
-- max_rank_id         INTEGER  id of that rank; NULL when the files name none
-- max_to_mean         DOUBLE   max_ns / mean_ns; NULL when that is 0
WITH module_time AS (
    SELECT
        parent_module,
        module,
        profile,
        {'profile': profile, 'rank_id': rank_id} AS rank,
        -- Of equal ranks the first: by number, whatever their folders are called.
        (coalesce(rank_id, 2147483647), profile) AS place,
        own_kernel_duration_ns AS own_ns,
        kernel_duration_ns AS all_ns
    FROM module.tree
),
compared_module AS (
    SELECT
        parent_module,
        module,
        count(*) AS rank_count,
        avg(own_ns) AS own_mean_ns,
        standard_deviation(own_ns) AS own_stddev_ns,
        min(own_ns) AS own_min_ns,
        arg_min(rank, (own_ns, place)) AS own_fastest,
        max(own_ns) AS own_max_ns,
        arg_min(rank, (-own_ns, place)) AS own_slowest,
        avg(all_ns) AS mean_ns,
        standard_deviation(all_ns) AS stddev_ns,
        min(all_ns) AS min_ns,
        arg_min(rank, (all_ns, place)) AS fastest,
        max(all_ns) AS max_ns,
        arg_min(rank, (-all_ns, place)) AS slowest
    FROM module_time
    GROUP BY parent_module, module
),
rank AS (
    SELECT count(DISTINCT profile) AS rank_count
    FROM module_time
)
SELECT
    parent_module,
    module,
    compared_module.rank_count,
    rank.rank_count - compared_module.rank_count AS lacking_rank_count,
    own_mean_ns,
    own_stddev_ns,
    own_min_ns,
    own_fastest.profile AS own_min_profile,
    own_fastest.rank_id AS own_min_rank_id,
    own_max_ns,
    own_slowest.profile AS own_max_profile,
    own_slowest.rank_id AS own_max_rank_id,
    own_max_ns / nullif(own_mean_ns, 0) AS own_max_to_mean,
    mean_ns,
    stddev_ns,
    min_ns,
    fastest.profile AS min_profile,
    fastest.rank_id AS min_rank_id,
    max_ns,
    slowest.profile AS max_profile,
    slowest.rank_id AS max_rank_id,
    max_ns / nullif(mean_ns, 0) AS max_to_mean
FROM compared_module
CROSS JOIN rank
ORDER BY own_stddev_ns DESC, stddev_ns DESC, parent_module, module
