-- One row is a rank as a stage of the pipeline, with the means of its steps, in the order of the stages.
--
-- profile  VARCHAR  the folder, the identity of the rank
-- rank_id  INTEGER  the rank; NULL when the files name none
-- @columns pipeline_stage to least_share as in pipeline.rank
FROM pipeline.rank
ORDER BY pipeline_stage, rank_id, profile
