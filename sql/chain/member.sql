-- One row is a kernel of a chain.
--
-- @unique found by first_place, stream: chains of a stream do not overlap
--
-- kernel_id  BIGINT   a kernel of trace.kernel
-- chain_id   BIGINT   a chain of chain.found
-- place      BIGINT   as in chain.place
-- is_fused   BOOLEAN  whether a fused op does its work too: false for a matmul between the others, unless it is one of
--                     attention
SELECT place.kernel_id, found.chain_id, place.place, found.pattern = 'attention' OR place.symbol NOT IN ('M', 'B') AS is_fused
FROM chain.place
ASOF JOIN chain.found ON found.stream = place.stream AND place.place >= found.first_place
WHERE place.place <= found.last_place
