-- One row is all compute time over all ranks, split by where it is with regard to layers.
--
-- alike_ns         BIGINT  kernel time in layers of a kind, that is, with the same kernels as others, ns; NULL when there are
--                          no ranks
-- irregular_ns     BIGINT  kernel time in irregular layers, ns; NULL when there are no ranks
-- prologue_ns      BIGINT  kernel time before the first layer, ns; NULL when there are no ranks
-- between_ns       BIGINT  kernel time between passes, ns; NULL when there are no ranks
-- epilogue_ns      BIGINT  kernel time after the last layer, ns; NULL when there are no ranks
-- unstructured_ns  BIGINT  kernel time of sequences without a convincing period, ns; NULL when there are no ranks
-- other_streams_ns BIGINT  compute time outside the sequences, ns; NULL when there are no ranks
SELECT
    sum(alike_ns)::BIGINT AS alike_ns,
    sum(irregular_ns)::BIGINT AS irregular_ns,
    sum(prologue_ns)::BIGINT AS prologue_ns,
    sum(between_ns)::BIGINT AS between_ns,
    sum(epilogue_ns)::BIGINT AS epilogue_ns,
    sum(unstructured_ns)::BIGINT AS unstructured_ns,
    sum(other_streams_ns)::BIGINT AS other_streams_ns
FROM layer.structure
