-- One row is a call on the host into the software of the device, and the call that encloses it on its thread.
--
-- host_api_id  BIGINT  a call of trace.host_api
-- parent_id    BIGINT  the innermost call around it; NULL for an outermost one
WITH call AS (
    SELECT host_api_id AS span_id, tid, start_ns, end_ns
    FROM trace.host_api
)
SELECT span_id AS host_api_id, parent_id
FROM parents(call)
