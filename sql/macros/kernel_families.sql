-- The rows of trace.kernel_family. `names` is the name of a CTE with name_id and name, those of the kernels of a GPU.
-- A name is of the first category that it fits, so what is a special case of another one comes before it. Patterns look at the
-- function alone, without its arguments and those of templates: a softmax has an all-reduce of threads among these. Of frames
-- of PyTorch that apply any function (elementwise, multi_tensor_apply), the name of that function is one. To add a
-- library of collectives is to add a line, and a mark in sources/kineto/inspection.py, by which a trace with no others is known
-- to have collectives.
-- Inductor names a kernel after the ops around it: triton_poi_fused_all_reduce_add_0 adds to what a collective has left.
CREATE MACRO IF NOT EXISTS families_of_kernels(names) AS TABLE
    WITH function_name AS (
        SELECT name_id, name, work_of_kernel(name) AS work, multiplies_matrices(name) AS is_matrix
        FROM query_table(names)
    ),
    named_library AS (
        SELECT
            *,
            CASE
                WHEN regexp_matches(work, '^triton_(poi|red|per|spl|for|tem)_') OR is_matrix THEN NULL
                WHEN regexp_matches(name, '^(?:void )?[nr]ccl[A-Za-z]*Kernel') THEN 'NCCL, RCCL'
                WHEN regexp_matches(work, '^mscclKernel|mscclpp') THEN 'MSCCL, MSCCL++'
                WHEN regexp_matches(work, '(deep_ep|dpsk::ep)::int\w+node|_ZN7deep_ep\d+int') THEN 'DeepEP'
                WHEN regexp_matches(work, '(?i)nvshmem|rocshmem') THEN 'NVSHMEM, rocSHMEM'
                WHEN regexp_matches(work, '(?i)moe_?a2a|^mori::|Ep(Dispatch|Combine)(Inter|Intra)Node')
                    THEN 'all-to-all of experts'
                WHEN regexp_matches(
                    work,
                    '(?i)cross_device_reduce|(all_?reduce|all_?gather|reduce_?scatter)(_fusion|_sum|_lamport)*_?'
                    || '(twoshot|oneshot)?_?(kernel|prototype)'
                    || '|(one|two)_?shot_?(push_)?(all_?reduce|all_?gather|reduce_?scatter)'
                    || '|multimem_(all_?(reduce|gather)|reduce_?scatter)|reduce_scatter_cross_device'
                ) THEN 'engines'
            END AS library
        FROM function_name
    ),
    named_category AS (
        SELECT
            name_id,
            library,
            CASE
                WHEN library IS NOT NULL THEN 'collective'
                WHEN name = 'event_wait' THEN 'wait'
                WHEN regexp_matches(work, '^triton_(poi|red|per|spl)_')
                    THEN CASE
                        WHEN regexp_matches(work, '_(native_\w*|rms_)norm|_(mean|var)\w*_rsqrt') THEN 'normalisation'
                        WHEN regexp_matches(work, '_(log_)?softmax|_([sr]e|[gs]i|leaky_re)lu|_sigmoid|_tanh') THEN 'activation'
                        WHEN regexp_matches(work, '_embedding') THEN 'index'
                        WHEN regexp_matches(work, '^triton_poi_fused_((_?to_copy|clone|cat|copy)_+)+\d*$') THEN 'copy'
                        WHEN starts_with(work, 'triton_poi_') THEN 'element by element'
                        ELSE 'reduction'
                    END
                WHEN starts_with(work, 'triton__0d') THEN 'element by element'
                WHEN regexp_matches(work, '(?i)rotary|(^|[^p])rope') THEN 'attention'
                WHEN NOT is_matrix
                    AND regexp_matches(work, '(?i)(^|[:_])bn_|norm([^ao]|$)|normali[sz]|welford|GammaBeta')
                    THEN 'normalisation'
                WHEN regexp_matches(
                    work, '(?i)sdpa|fmha|attn|attention|(^|::)flash_|mla_|kv_?cache|reshape_and_cache|kv_indices|rotary|rope'
                ) THEN 'attention'
                WHEN regexp_matches(
                    work, '(?i)moe|gating|grouped_?top_?k|^_topk|routing|expert|bitmatrix|_matmul_ogs|matmul_scatter'
                ) THEN 'experts'
                WHEN regexp_matches(
                    work, '(?i)scudnn|cask_cudnn|miopen|convol|conv([^e]|$)|igemm_|winograd|dgrad|wgrad|fprop'
                ) THEN 'convolution'
                WHEN is_matrix THEN 'matrix product'
                WHEN regexp_matches(work, '(?i)pool') THEN 'reduction'
                WHEN regexp_matches(work, '(?i)nchw|nhwc|transpose|permute|quant|cast|convert') THEN 'conversion'
                WHEN regexp_matches(work, '(?i)adam|lamb_|sgd|adagrad|optimizer')
                    OR (contains(work, 'multi_tensor_apply') AND regexp_matches(name, '(?i)adam|lamb|sgd|adagrad|rmsprop'))
                    THEN 'optimizer'
                WHEN regexp_matches(work, '(?i)silu|gelu|swiglu|act_and_mul|softmax|sigmoid|relu|activation') THEN 'activation'
                WHEN regexp_matches(work, '(?i)distribution|philox|random|normal(_|$)|dropout|bernoulli') THEN 'random numbers'
                WHEN regexp_matches(work, '(?i)sort|top_?k') THEN 'sort'
                WHEN regexp_matches(
                    work, '(?i)embedding|index|indice|gather|scatter|bounds_check|bucketize|nonzero|position|token'
                ) THEN 'index'
                WHEN regexp_matches(work, '(?i)copy|memset|fill|clone') THEN 'copy'
                WHEN regexp_matches(work, '(?i)reduce|scan|sum|loss|nll|entropy') THEN 'reduction'
                WHEN contains(work, 'elementwise') AND regexp_matches(name, 'FillFunctor|copy_kernel') THEN 'copy'
                WHEN contains(work, 'elementwise')
                    AND regexp_matches(name, '(?i)(silu|[grs]elu|sigmoid|tanh|threshold|hardswish|softplus|mish)\w*kernel')
                    THEN 'activation'
                WHEN regexp_matches(
                    work, '(?i)elementwise|tensorop|multi_tensor_apply|^triton_|^at::|^thrust::|^cub::|rocprim|hipcub|^cudnn::'
                ) THEN 'element by element'
            END AS category
        FROM named_library
    )
    SELECT
        name_id,
        CASE
            WHEN category = 'collective' THEN 'communication'
            WHEN category = 'wait' THEN 'wait'
            WHEN category IS NOT NULL THEN 'compute'
        END::ENUM('compute', 'communication', 'wait') AS kind,
        category,
        library
    FROM named_category;

-- The rows of trace.named_collective: each kernel with the operation of the innermost range of its thread around its launch.
-- `kernels` is the name of a CTE of launches of kernels, `ranges` of one of ranges that name an operation; both have thread,
-- start_ns and end_ns.
CREATE MACRO IF NOT EXISTS collectives_around(kernels, ranges) AS TABLE
    WITH host_range AS (
        SELECT thread, start_ns, min((end_ns, operation)) AS inner_range
        FROM query_table(ranges)
        GROUP BY thread, start_ns
    )
    SELECT kernel.kernel_id, min(host_range.inner_range[2]) AS operation
    FROM query_table(kernels) AS kernel
    ASOF JOIN host_range ON host_range.thread = kernel.thread AND host_range.start_ns <= kernel.start_ns
    WHERE host_range.inner_range[1] >= kernel.end_ns
    GROUP BY kernel.kernel_id
    HAVING count(DISTINCT host_range.inner_range[2]) = 1;
