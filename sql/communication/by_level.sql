-- One row is the time of the communication operators of one group of ranks and type, of one module, or of the whole rank.
--
-- level                  VARCHAR  group, module or rank: scope of the row
-- group_name             VARCHAR  the group of ranks; NULL when not recorded, and for levels other than group
-- kind                   VARCHAR  p2p (send and receive) or collective; NULL for levels other than group
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when not known, and for levels other than group
-- location               VARCHAR  'inside modules', 'outside modules', or 'linked to no op'; NULL for levels other than module
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules, and for levels other than
--                                 module
-- module                 VARCHAR  class name of the module; NULL outside modules, and for levels other than module
-- op_count               BIGINT   operators
-- elapse_ns              BIGINT   their time, ns: transit, wait, idle and unknown; overlapping operators count fully
-- transit_ns             BIGINT   transfers over a link, ns; NULL when known for no operator
-- wait_ns                BIGINT   waits for other ranks, ns; NULL when known for no operator
-- synchronization_ns     BIGINT   the part of wait_ns before the first transfer, ns; NULL when known for no operator
-- idle_ns                BIGINT   the rest of the time of operators with a known split, ns; NULL when known for no operator
-- unknown_ns             BIGINT   time of operators whose split is not known, ns
-- reason                 VARCHAR  why it is not known, the reasons joined by '; '; NULL when all is known
-- longest_plane_wait_ns  BIGINT   wait of the longest waiting plane of each operator, ns; NULL when planes are not known
-- size_bytes             BIGINT   bytes moved over links; NULL when not known
-- transfer_ns            BIGINT   time of these transfers, ns; overlapping transfers count fully; NULL when not known
-- bandwidth_gb_s         DOUBLE   size_bytes / transfer_ns, GB/s; NULL when nothing was moved
WITH at_level AS (
    SELECT
        'rank' AS level,
        * REPLACE (
            NULL AS group_name, NULL AS kind, NULL AS type, NULL AS location, NULL AS parent_module, NULL AS module
        )
    FROM communication.time
    UNION ALL
    SELECT 'group', * REPLACE (NULL AS location, NULL AS parent_module, NULL AS module)
    FROM communication.time
    UNION ALL
    SELECT 'module', * REPLACE (NULL AS group_name, NULL AS kind, NULL AS type)
    FROM communication.time
)
SELECT
    level,
    group_name,
    kind,
    type,
    location,
    parent_module,
    module,
    count(*) AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(transit_ns) FILTER (origin IS NOT NULL)::BIGINT AS transit_ns,
    sum(wait_ns) FILTER (origin IS NOT NULL)::BIGINT AS wait_ns,
    sum(synchronization_ns) FILTER (origin IS NOT NULL)::BIGINT AS synchronization_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    coalesce(sum(elapse_ns - coalesce(transit_ns, 0) - coalesce(wait_ns, 0)) FILTER (idle_ns IS NULL), 0)::BIGINT AS unknown_ns,
    string_agg(DISTINCT reason, '; ' ORDER BY reason) AS reason,
    sum(longest_plane_wait_ns)::BIGINT AS longest_plane_wait_ns,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(transfer_ns)::BIGINT AS transfer_ns,
    sum(size_bytes) / nullif(sum(transfer_ns), 0) AS bandwidth_gb_s
FROM at_level
GROUP BY level, group_name, kind, type, location, parent_module, module
