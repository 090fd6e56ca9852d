-- One row is a group of ranks and a type of operators with their time over all ranks, the longest first.
--
-- @sum op_count, elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns, unknown_ns, size_bytes, transfer_ns
--
-- @columns group_name to bandwidth_gb_s as in communication.group_time
SELECT
    group_name,
    kind,
    type,
    sum(op_count)::BIGINT AS op_count,
    sum(elapse_ns)::BIGINT AS elapse_ns,
    sum(transit_ns)::BIGINT AS transit_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    sum(synchronization_ns)::BIGINT AS synchronization_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    sum(unknown_ns)::BIGINT AS unknown_ns,
    array_to_string(
        list_sort(list_distinct(flatten(list(string_split(reason, '; ')) FILTER (reason IS NOT NULL)))), '; '
    ) AS reason,
    sum(longest_plane_wait_ns)::BIGINT AS longest_plane_wait_ns,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(transfer_ns)::BIGINT AS transfer_ns,
    sum(size_bytes) / nullif(sum(transfer_ns), 0) AS bandwidth_gb_s
FROM communication.group_time
GROUP BY group_name, kind, type
ORDER BY elapse_ns DESC, group_name, kind, type
