-- One row is the rank, where passes are looked for in its kernels: no pass that annotations mark has kernels, some kernels are
-- attention, and none is of a backward.
--
-- attention_count  BIGINT  kernels of attention
WITH used_name AS (
    SELECT DISTINCT name_id AS text_id
    FROM trace.kernel
    WHERE kind = 'compute'
    UNION
    SELECT DISTINCT type_id
    FROM trace.kernel
    WHERE kind = 'compute'
),
backward AS (
    SELECT text_id
    FROM used_name
    JOIN trace.string USING (text_id)
    WHERE regexp_matches(text, '(?i)grad|backward|_bwd')
)
SELECT count(*) AS attention_count
FROM trace.serving_kernel
WHERE part IN ('prefill attention', 'decode attention', 'attention')
HAVING count(*) > 0
   AND NOT EXISTS (FROM pass.marked_kernel)
   AND NOT EXISTS (FROM trace.forward_backward)
   AND NOT EXISTS (FROM backward)
