-- One row is the step that pictures show where none is chosen: of all steps the one whose length is in the middle.
--
-- step_id   BIGINT  the step of timeline.step; NULL for the whole profile
-- start_ns  BIGINT  start of its first kernel, Unix ns
-- end_ns    BIGINT  end of its last kernel, Unix ns
SELECT step_id, start_ns, end_ns
FROM timeline.step
QUALIFY row_number() OVER (ORDER BY end_ns - start_ns, start_ns, step_id) = (count(*) OVER () + 1) // 2
