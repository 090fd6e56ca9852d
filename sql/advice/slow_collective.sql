-- One row is a rank and a type and group of large collectives that move data far below the bandwidth of the links of a node.
--
-- @guard communication.by_size
-- @title Large collectives are far below the bandwidth of their links
-- @evidence {count|1 operator|operators} of {size_bytes} on average take {time_ns} without computing; the fastest one reaches a
--     bus bandwidth of {bus_gb_s:.1f} GB/s, the links have {link_gb_s:.0f} GB/s in one direction[; {late_ns} of it is in
--     waiting for late ranks]{is_compared?|; the other ranks are not here to say how long this one waits for them}
-- @kind (is_compared) upper bound
-- @kind hint
-- @remedy (is_compared) Let NCCL_DEBUG=INFO show which links and algorithm it takes: it must see NVLink or xGMI (P2P not
--     disabled, NCCL_P2P_LEVEL, no container without peer access), and have channels enough (no NCCL_MAX_NCHANNELS); check the
--     links (nvidia-smi nvlink -s, rocm-smi --showtopo).
-- @remedy Record the other ranks too: with them it is known how much of this is waiting. If it is not, let NCCL_DEBUG=INFO show
--     which links and algorithm it takes.
-- @query SELECT exposed_ns, shortest_ns, size_bytes, type, rank_id FROM communication.by_size ORDER BY exposed_ns
--     DESC LIMIT 50
-- @counts transfers
-- @requires communication
-- @threshold attainable_share 0.7: Share of the bandwidth of the links that large collectives can reach: nccl-tests measure 0.7
--     to 0.8
-- @threshold least_bytes 16777216 bytes: Smaller collectives do not reach the bandwidth of links
-- @threshold most_share 0.4: Share of it from which on they are not slow
--
-- @columns profile to rank_id, kernel_type, count to win_ns as in advice.finding_of_rank
-- size_bytes   BIGINT   mean bytes of an operator
-- bus_gb_s     DOUBLE   bus bandwidth of the fastest one, as in communication.statistic, 10^9 bytes per second
-- link_gb_s    DOUBLE   bandwidth of the links, 10^9 bytes per second
-- late_ns      BIGINT   exposed time in which the rank waits for a later one, ns; NULL without any
-- is_compared  BOOLEAN  whether other ranks of the group are here to say how long it waits
--
-- Collectives of 16 MiB or more (`least_bytes`) in a group whose ranks are on one server, on a device whose links are known
-- (`roofline.product`), where even the fastest operator of a size reaches less than 40 % of the links (`most_share`). The win
-- is an upper bound: the time without computing and without waiting for late ranks, less the time that the same data takes at
-- 70 % of the links (`attainable_share`). With one rank of the group, its operators may wait for others all the time, so that
-- the finding is a hint. Groups over several servers are not judged: the profile does not say what lies between these. On NPUs
-- see [slow link](#slow-link).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'attainable_share') AS attainable_share,
        max(value) FILTER (name = 'least_bytes') AS least_bytes,
        max(value) FILTER (name = 'most_share') AS most_share
    FROM advice.threshold
    WHERE rule = 'slow_collective'
),
sized AS (
    SELECT
        by_size.*,
        bus_factor(operation, group_size) * size_bytes AS bus_bytes,
        bus_bytes / shortest_ns AS bus_gb_s
    FROM communication.by_size
    CROSS JOIN threshold
    WHERE size_bytes >= threshold.least_bytes AND is_in_node AND group_size > 1 AND shortest_ns > 0 AND link_gb_s IS NOT NULL
),
slow AS (
    SELECT
        sized.profile,
        sized.rank_id,
        sized.type,
        sized.group_name,
        sized.link_gb_s,
        sum(op_count)::BIGINT AS op_count,
        sum(size_bytes * op_count) AS size_bytes,
        max(bus_gb_s) AS bus_gb_s,
        sum(elapse_ns) AS elapse_ns,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(bus_bytes * op_count / (link_gb_s * threshold.attainable_share)) AS attainable_ns
    FROM sized
    CROSS JOIN threshold
    WHERE bus_gb_s < threshold.most_share * link_gb_s
    GROUP BY sized.profile, sized.rank_id, sized.type, sized.group_name, sized.link_gb_s
),
compared AS (
    SELECT
        slow.*,
        late_rank.waited_ns IS NOT NULL AS is_compared,
        coalesce(slow.exposed_ns * late_rank.waited_ns / nullif(late_rank.elapse_ns, 0), 0) AS late_ns
    FROM slow
    LEFT JOIN across.late_rank
        ON late_rank.profile = slow.profile
        AND late_rank.group_name IS NOT DISTINCT FROM slow.group_name
        AND late_rank.type IS NOT DISTINCT FROM slow.type
),
finding AS (
    SELECT
        *,
        -- What is covered would be covered as well if it were faster.
        greatest(0, least(critical_ns, exposed_ns - late_ns) - attainable_ns * exposed_ns / elapse_ns) AS win_ns
    FROM compared
)
SELECT
    profile,
    rank_id,
    type AS kernel_type,
    op_count AS count,
    exposed_ns AS time_ns,
    if(is_compared, round(win_ns)::BIGINT, NULL) AS win_ns,
    round(size_bytes / op_count)::BIGINT AS size_bytes,
    bus_gb_s,
    link_gb_s,
    nullif(round(late_ns)::BIGINT, 0) AS late_ns,
    is_compared
FROM finding
WHERE win_ns > 0
