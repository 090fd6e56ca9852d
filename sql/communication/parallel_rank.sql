-- One row is the position of the rank in the parallel groups of the training framework: as its recorded groups say, else in the
-- order in which Megatron numbers ranks (tensor parallel ones first, then context, data and pipeline parallel ones).
--
-- pipeline_stage  BIGINT  pipeline stage, from 0; NULL when not recorded
-- dp_rank         BIGINT  rank among the data parallel ranks, from 0; NULL when not recorded
-- cp_rank         BIGINT  rank among the context parallel ranks, from 0; NULL when not recorded
-- tp_rank         BIGINT  rank among the tensor parallel ranks, from 0; NULL when not recorded
WITH recorded_group AS (
    SELECT
        min(own_position) FILTER (label = 'pp') AS pipeline_stage,
        min(own_position) FILTER (label = 'dp') AS dp_rank,
        min(own_position) FILTER (label = 'cp') AS cp_rank,
        min(own_position) FILTER (label = 'tp') AS tp_rank
    FROM trace.parallel_group
),
size AS (
    SELECT
        min(global_rank) AS global_rank,
        nullif(min(tensor_size), 0) AS tensor_size,
        nullif(min(tensor_size), 0) * coalesce(nullif(min(context_size), 0), 1) AS model_size,
        nullif(min(tensor_size), 0) * coalesce(nullif(min(context_size), 0), 1) * nullif(min(data_size), 0) AS stage_size
    FROM trace.parallelism
)
SELECT
    coalesce(recorded_group.pipeline_stage, size.global_rank // size.stage_size) AS pipeline_stage,
    coalesce(recorded_group.dp_rank, size.global_rank % size.stage_size // size.model_size) AS dp_rank,
    coalesce(recorded_group.cp_rank, size.global_rank % size.model_size // size.tensor_size) AS cp_rank,
    coalesce(recorded_group.tp_rank, size.global_rank % size.tensor_size) AS tp_rank
FROM recorded_group
CROSS JOIN size
