-- One row is a call on the host that compiles an op or a kernel, or looks up what is compiled; of all steps.
--
-- host_api_id  BIGINT  a call of trace.host_api
SELECT host_api_id
FROM trace.host_api
WHERE role = 'compile'
