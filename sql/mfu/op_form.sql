-- One row is a name of ops for whose FLOPs there is a formula, and where their inputs are.
--
-- @guard trace.op_input
--
-- name_id     TEXT_ID  name of the ops
-- form        VARCHAR  product, linear (the second matrix is turned), grouped product, convolution, convolution gradient,
--                      attention, attention gradient, paged attention (over a cache of keys, whose lengths are in no shape),
--                      latent attention (the same over a cache of latents, which are keys and values: FlashMLA)
-- first_at    BIGINT   position of the first matrix, of the input of a convolution, or of the query; the second matrix, the
--                      weight, and key and value come next
-- layout      VARCHAR  dims of query, key and value: BHSD, BSHD, or THD, where all sequences come one after the other; NULL for
--                      other forms
-- causal_at   BIGINT   attention: position of the value that says whether the mask is causal; NULL for other forms
-- aligned     VARCHAR  attention: corner of the matrix in which the diagonal of a causal mask begins, upper left or lower
--                      right, or by value where the value at causal_at is 1 or 2 for these and 0 without a mask; NULL for
--                      other forms
-- mask_at     BIGINT   attention: position of a mask given as a tensor; NULL without one
-- lengths_at  BIGINT   attention: position of the ends of the sequences, as a tensor; NULL without one
-- used_at     BIGINT   attention: position of the lengths of the keys that are used, as a tensor; NULL without one
-- window_at   BIGINT   attention: position of the number of keys before the diagonal that count, and of those after it, -1 for
--                      all; where aligned is by value, of a window of another kind; NULL without one
-- values_at   BIGINT   convolution: position of strides, paddings and dilations, in this order; NULL for other forms
-- turned_at   BIGINT   convolutions: position of the value that says whether it is transposed; NULL where it never is
-- wanted_at   BIGINT   convolution gradient: position of the list that says which gradients are computed: those of the input,
--                      the weight and the bias; NULL for other forms
--
-- Positions count from 1, as in the signatures of the ops. An op that only calls others,
-- such as aten::matmul, has no formula.
WITH matrix (name, form, first_at) AS (
    VALUES
        ('aten::mm', 'product', 1),
        ('aten::bmm', 'product', 1),
        ('aten::addmm', 'product', 2),
        ('aten::addmm_', 'product', 2),
        ('aten::_addmm_activation', 'product', 2),
        ('aten::baddbmm', 'product', 2),
        ('aten::baddbmm_', 'product', 2),
        ('aten::mv', 'product', 1),
        ('aten::addmv', 'product', 2),
        ('aten::addmv_', 'product', 2),
        ('aten::_int_mm', 'product', 1),
        ('aten::_scaled_mm', 'product', 1),
        ('aten::_scaled_mm_v2', 'product', 1),
        ('_C::cutlass_scaled_mm', 'product', 2),
        ('aten::linear', 'linear', 1),
        ('vllm::rocm_unquantized_gemm', 'linear', 1),
        ('aten::_grouped_mm', 'grouped product', 1),
        ('aten::_scaled_grouped_mm', 'grouped product', 1),
        ('aten::_scaled_grouped_mm_v2', 'grouped product', 1)
),
convolution (name, form, first_at, values_at, turned_at, wanted_at) AS (
    VALUES
        ('aten::convolution', 'convolution', 1, 4, 7, NULL),
        ('aten::_convolution', 'convolution', 1, 4, 7, NULL),
        ('aten::convolution_overrideable', 'convolution', 1, 4, 7, NULL),
        ('aten::cudnn_convolution_relu', 'convolution', 1, 4, NULL, NULL),
        ('aten::cudnn_convolution_add_relu', 'convolution', 1, 6, NULL, NULL),
        ('aten::convolution_backward', 'convolution gradient', 2, NULL, 8, 11),
        ('aten::convolution_backward_overrideable', 'convolution gradient', 2, NULL, 7, 10)
),
attention (name, layout, causal_at, aligned, mask_at, lengths_at, used_at, window_at) AS (
    VALUES
        ('aten::scaled_dot_product_attention', 'BHSD', 6, 'upper left', 4, NULL, NULL, NULL),
        ('aten::_scaled_dot_product_flash_attention', 'BHSD', 5, 'lower right', NULL, NULL, NULL, NULL),
        ('aten::_scaled_dot_product_efficient_attention', 'BHSD', 7, 'upper left', 4, NULL, NULL, NULL),
        ('aten::_scaled_dot_product_cudnn_attention', 'BHSD', 7, 'upper left', 4, NULL, NULL, NULL),
        ('aten::_scaled_dot_product_fused_attention_overrideable', 'BHSD', 6, 'upper left', 4, NULL, NULL, NULL),
        ('aten::_flash_attention_forward', 'BSHD', 9, 'lower right', NULL, 4, 14, 12),
        ('aten::_efficient_attention_forward', 'BSHD', 10, 'by value', 4, 5, 13, 14),
        ('aten::_cudnn_attention_forward', 'BHSD', 11, 'upper left', 4, 5, 14, NULL),
        ('flash_attn::_flash_attn_forward', 'BSHD', 6, 'lower right', NULL, NULL, NULL, 7),
        ('flash_attn::_flash_attn_varlen_forward', 'THD', 10, 'lower right', NULL, 4, 18, 11)
),
attention_gradient (name, layout, causal_at, aligned, mask_at, lengths_at, used_at, window_at) AS (
    VALUES
        ('aten::_scaled_dot_product_flash_attention_backward', 'BHSD', 12, 'lower right', NULL, 7, NULL, NULL),
        ('aten::_scaled_dot_product_efficient_attention_backward', 'BHSD', 12, 'upper left', 5, NULL, NULL, NULL),
        ('aten::_scaled_dot_product_cudnn_attention_backward', 'BHSD', 15, 'upper left', 9, 10, NULL, NULL),
        ('aten::_flash_attention_backward', 'BSHD', 12, 'lower right', NULL, 7, NULL, 16),
        ('aten::_efficient_attention_backward', 'BSHD', 15, 'by value', 5, 7, NULL, 19),
        ('aten::_cudnn_attention_backward', 'BHSD', 15, 'upper left', 9, 10, NULL, NULL),
        ('flash_attn::_flash_attn_backward', 'BSHD', 12, 'lower right', NULL, NULL, NULL, 13),
        ('flash_attn::_flash_attn_varlen_backward', 'THD', 16, 'lower right', NULL, 10, NULL, 17)
),
-- Their keys are those of the cache, or of the queries alone.
paged_attention (name) AS (
    VALUES
        ('vllm::unified_attention'),
        ('vllm::unified_attention_with_output'),
        ('sglang::unified_attention_with_output'),
        ('aiter::mha_batch_prefill')
),
-- The third input is the size of a value, which is the first part of a key.
-- Knows mla_: formulas are of ops, which have names.
latent_attention (name) AS (
    VALUES ('_flashmla_C::fwd_kvcache_mla'), ('sgl_kernel::fwd_kvcache_mla')
),
formed AS (
    FROM matrix
    UNION ALL BY NAME
    FROM convolution
    UNION ALL BY NAME
    SELECT 'attention' AS form, 1 AS first_at, *
    FROM attention
    UNION ALL BY NAME
    SELECT 'attention gradient' AS form, 2 AS first_at, *
    FROM attention_gradient
    UNION ALL BY NAME
    SELECT 'paged attention' AS form, 1 AS first_at, *
    FROM paged_attention
    UNION ALL BY NAME
    SELECT 'latent attention' AS form, 1 AS first_at, *
    FROM latent_attention
)
SELECT
    string.text_id AS name_id,
    formed.form,
    formed.first_at::BIGINT AS first_at,
    formed.layout,
    formed.causal_at::BIGINT AS causal_at,
    formed.aligned,
    formed.mask_at::BIGINT AS mask_at,
    formed.lengths_at::BIGINT AS lengths_at,
    formed.used_at::BIGINT AS used_at,
    formed.window_at::BIGINT AS window_at,
    formed.values_at::BIGINT AS values_at,
    formed.turned_at::BIGINT AS turned_at,
    formed.wanted_at::BIGINT AS wanted_at
FROM formed
JOIN trace.string ON string.text = formed.name
