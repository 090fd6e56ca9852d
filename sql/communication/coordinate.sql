-- One row is the place of the rank in the parallel groups that the training framework made: as its groups tell, else as Megatron
-- numbers ranks (tensor parallel ones first, then context, data and pipeline parallel ones).
--
-- pipeline_stage  BIGINT  pipeline stage, from 0; NULL when not recorded
-- data_place      BIGINT  place among the data parallel ranks, from 0; NULL when not recorded
-- context_place   BIGINT  place among the context parallel ranks, from 0; NULL when not recorded
-- tensor_place    BIGINT  place among the tensor parallel ranks, from 0; NULL when not recorded
WITH place AS (
    SELECT
        min(own_position) FILTER (label = 'pp') AS pipeline_stage,
        min(own_position) FILTER (label = 'dp') AS data_place,
        min(own_position) FILTER (label = 'cp') AS context_place,
        min(own_position) FILTER (label = 'tp') AS tensor_place
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
    coalesce(place.pipeline_stage, size.global_rank // size.stage_size) AS pipeline_stage,
    coalesce(place.data_place, size.global_rank % size.stage_size // size.model_size) AS data_place,
    coalesce(place.context_place, size.global_rank % size.model_size // size.tensor_size) AS context_place,
    coalesce(place.tensor_place, size.global_rank % size.tensor_size) AS tensor_place
FROM place
CROSS JOIN size
