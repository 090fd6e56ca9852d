-- The bus bandwidth of a collective over its algorithm bandwidth, as nccl-tests defines both (doc/PERFORMANCE.md): it compares
-- with the bandwidth of the links, whatever the number of ranks.
CREATE MACRO IF NOT EXISTS bus_factor(operation, ranks) AS
    CASE
        WHEN operation = 'allreduce' THEN 2 * (ranks - 1) / nullif(ranks, 0)
        WHEN operation IN ('allgather', 'reducescatter', 'alltoall', 'alltoallv', 'gather', 'scatter')
            THEN (ranks - 1) / nullif(ranks, 0)
        WHEN operation IN ('broadcast', 'reduce', 'send', 'receive', 'sendrecv') THEN 1
    END;

-- The largest power of two that is not above a number of bytes; 0 for none.
CREATE MACRO IF NOT EXISTS power_below(bytes) AS if(bytes > 0, 1::BIGINT << (length(bin(bytes)) - 1), 0);

-- Whether an operator moves data between stages of a pipeline: between two ranks of a group for that, or, where the purpose of
-- its group is not known, as a plain send or receive.
CREATE MACRO IF NOT EXISTS is_between_stages(direction, group_label) AS
    direction IS NOT NULL AND (coalesce(group_label = 'pp', false) OR (group_label IS NULL AND direction <> 'both'));
