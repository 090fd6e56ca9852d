-- One row is the time of all communication operators of the rank.
--
-- op_count               BIGINT   operators
-- elapse_ns              BIGINT   their time, ns: transit, wait, idle and unknown; overlapping operators count fully
-- transit_ns             BIGINT   transfers over a link, ns; NULL when not known of any operator
-- wait_ns                BIGINT   waits for other ranks, ns; NULL when not known of any operator
-- synchronization_ns     BIGINT   those of the waits that are before the first transfer, ns; NULL when not known of any operator
-- idle_ns                BIGINT   the rest, ns; NULL when not known of any operator
-- unknown_ns             BIGINT   time of operators whose split is not known, ns
-- reason                 VARCHAR  why it is not known, the reasons joined by '; '; NULL when all is known
-- longest_plane_wait_ns  BIGINT   what the longest waiting plane of each operator waited, ns; NULL when planes are not known
-- size_bytes             BIGINT   what was moved over links; NULL when not known
-- transfer_ns            BIGINT   time of these transfers, ns; those at the same time count fully; NULL when not known
-- bandwidth_gb_s         DOUBLE   size_bytes / transfer_ns, GB/s; NULL when nothing was moved
SELECT * EXCLUDE (level, group_name, kind, type, location, parent_module, module)
FROM communication.by_level
WHERE level = 'rank'
