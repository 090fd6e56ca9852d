-- One row is a kernel of mfu.utilisation, in a rank whose operator types have formulas.
--
-- @guard mfu.family
--
-- kernel_id   BIGINT  a kernel of mfu.cube_kernel
-- ratio       BIGINT  as in mfu.utilisation
-- peer_ratio  BIGINT  as in mfu.utilisation
--
-- ModuleStatistic has MFU by operator types alone: with FLOPs of ops it would take as long as
-- the command mfu.
SELECT kernel_id, ratio, peer_ratio
FROM mfu.utilisation
