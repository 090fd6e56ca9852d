-- One row is the rank, where passes are looked for in its kernels and no choice of tokens shows them.
--
-- @guard pass.serving
--
-- attention_count  BIGINT  kernels of attention
SELECT attention_count
FROM pass.serving
WHERE NOT EXISTS (FROM pass.token_begin)
