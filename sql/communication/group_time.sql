-- One row is a group of ranks and a type of operators with their time, the longest first.
--
-- group_name             VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- kind                   VARCHAR  p2p (send and receive) or collective
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when nothing tells it
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
SELECT * EXCLUDE (level, location, parent_module, module)
FROM communication.by_level
WHERE level = 'group'
ORDER BY elapse_ns DESC, group_name, kind, type
