-- One row is a kernel and the call of the root module in which the host asked for it, or after which it did.
--
-- @guard compare.root_call
-- @unique root_call by start_ns: starts of root calls are distinct
--
-- kernel_id  BIGINT  a kernel of trace.kernel; those that are not in kernels.asked, and those before the first call, have no
--                    row
-- unit_id    BIGINT  a call of compare.root_call
SELECT asked.kernel_id, root_call.unit_id
FROM kernels.asked
ASOF JOIN compare.root_call ON asked.asked_ns >= root_call.start_ns
