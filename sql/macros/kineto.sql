-- Shapes in the form of Kineto, [[16, 559], [], [[2], [3]]], as 16,559;;2;3.
CREATE MACRO IF NOT EXISTS list_of_shapes(json_list) AS
    translate(replace(replace(json_list, ' ', ''), '],[', ';'), '[]', '');

-- Words in the form of Kineto, ["c10::BFloat16", "Scalar"], as c10::BFloat16;Scalar.
CREATE MACRO IF NOT EXISTS list_of_words(json_list) AS trim(replace(replace(json_list, '", "', ';'), '","', ';'), '["]');

-- The function in the name of a kernel, without what it returns, its arguments and those of its template:
-- at::native::vectorized_elementwise_kernel in void at::native::vectorized_elementwise_kernel<4, ...>(int, ...).
CREATE MACRO IF NOT EXISTS function_of_kernel(name) AS
    coalesce(
        nullif(
            rtrim(
                regexp_extract(
                    replace(name, '(anonymous namespace)::', ''), '^(?:(?:void|static|inline|__global__) +)*([^<(\[]+)', 1
                )
            ),
            ''
        ),
        name
    );

-- The operation of a collective of NCCL or RCCL, in the words of PyTorch (_allgather_base is an allgather), else in the name
-- of its kernel.
CREATE MACRO IF NOT EXISTS operation_of_collective(collective, kernel_name) AS
    coalesce(
        nullif(
            replace(
                regexp_replace(lower(collective), '(_base|_coalesced|_oop|_sparse|_tensor|into_tensor|[^a-z])', '', 'g'),
                'recv',
                'receive'
            ),
            ''
        ),
        nullif(nullif(lower(regexp_extract(kernel_name, 'ccl(?:Dev)?Kernel_([A-Za-z]+)', 1)), ''), 'generic'),
        nullif(
            replace(lower(regexp_extract(kernel_name, '(?i)(all_?reduce|all_?gather|reduce_?scatter)', 1)), '_', ''), ''
        ),
        if(regexp_matches(kernel_name, 'cross_device_reduce'), 'allreduce', NULL),
        nullif(lower(regexp_extract(kernel_name, '(?i)(dispatch|combine)', 1)), '')
    );

-- Bytes of an element, by the name of its type in PyTorch; NULL for other names.
CREATE MACRO IF NOT EXISTS bytes_of_type(name) AS
    CASE
        WHEN name IN ('Byte', 'Char', 'Bool') OR starts_with(name, 'Float8') THEN 1
        WHEN name IN ('Half', 'BFloat16', 'Short') THEN 2
        WHEN name IN ('Float', 'Int') THEN 4
        WHEN name IN ('Double', 'Long', 'ComplexFloat') THEN 8
        WHEN name = 'ComplexDouble' THEN 16
    END;

-- The role of a call of CUDA, HIP or SYCL; NULL for all else. A copy that is not asynchronous waits for the device.
CREATE MACRO IF NOT EXISTS role_of_cuda_call(name) AS
    CASE
        WHEN regexp_matches(name, 'Synchronize|^ur(EventWait|QueueFinish)$') THEN 'synchronise'
        WHEN regexp_matches(name, '(?i)launch') THEN 'launch'
        WHEN regexp_matches(name, '^(cuda|hip|cu)Memcpy') AND NOT contains(name, 'Async') THEN 'synchronise'
        WHEN regexp_matches(name, '(?i)mem(cpy|set)') THEN 'copy'
        WHEN regexp_matches(name, '(?i)malloc|free|memcreate|mempool|hostalloc') THEN 'allocate'
        WHEN regexp_matches(name, '(?i)module(load|getfunction)|compile|linkcreate|libraryload|graphinstantiate') THEN 'compile'
    END;

-- The domain of a range of record_function: the text before its colon; without one, its name up to the first number: Module of
-- Module:Linear, layer of layer_0.
CREATE MACRO IF NOT EXISTS domain_of_annotation(name) AS
    coalesce(
        nullif(regexp_extract(name, '(?s)^([^:]+):[^:]', 1), ''),
        nullif(regexp_replace(name, '(?s)[^A-Za-z]*[0-9].*$', ''), '')
    );

-- The name of such a range in its domain: the text after its colon, else all of it.
CREATE MACRO IF NOT EXISTS name_in_domain(name) AS coalesce(nullif(regexp_extract(name, '(?s)^[^:]+:([^:].*)$', 1), ''), name);

-- The role of a range of record_function that PyTorch itself records; NULL for a user's own.
CREATE MACRO IF NOT EXISTS role_of_annotation(name) AS
    CASE
        WHEN is_name_of_step(name) THEN 'step'
        WHEN regexp_matches(name, '^(nccl|gloo|c10d):') THEN 'communication'
        WHEN loads_data(name) THEN 'data loading'
    END;

-- The type of a kernel: its function, or all of its name where the function is a frame around any other.
CREATE MACRO IF NOT EXISTS work_of_kernel(name) AS
    if(regexp_matches(name, '(ck_tile::kentry|cutlass::device_kernel)<'), name, function_of_kernel(name));

-- Whether a kernel multiplies matrices, as far as its name says so: products, convolutions, attention, and sums of the parts of
-- a product that was split; not kernels that convert or arrange data before and after, and not FBGEMM for its name.
CREATE MACRO IF NOT EXISTS multiplies_matrices(name) AS
    coalesce(
        regexp_matches(
            work_of_kernel(name),
            '(?i)(^|[^b]|[^f]b)gemm|gemv|^cijk_|xmma|cutlass|nvjet|wgmma|mat_?mul|(^|_)b?mm(_|$)|^triton_tem_|split_?k'
            || '|wvspltk|fused_moe|conv([^e]|$)|fprop|dgrad|wgrad|winograd|sdpa|fmha|attn|attention|(^|::)flash_'
        )
        AND NOT regexp_matches(
            work_of_kernel(name),
            '(?i)^triton_(poi|red|per)_|preprocess|postprocess|dot_?do_?o|ograddoto|convert_?dq|convertqgrad|kv_combine'
            || '|reshape_and_cache|concat_and_cache|merge_attn|causal_conv1d|finalize'
        ),
        false
    );

-- The data type in which a kernel multiplies matrices of FP32, as its name says: TF32 has ten bits of mantissa, and the name
-- XF32 on AMD (MX in names of Tensile). NULL where the name does not say it.
CREATE MACRO IF NOT EXISTS fp32_of_kernel(name) AS
    CASE
        WHEN regexp_matches(name, '(?i)tf32|xf32|s1688gemm|^cijk_[a-z]+_[a-z]+_s_mx') THEN 'tf32'
        WHEN regexp_matches(name, '(?i)^cijk_[a-z]+_[a-z]+_s(b|_)|sgemm|scudnn|simt|gemv|ffma|gemm(sn|k1)|f32f32_f32f32')
            THEN 'fp32'
    END;

-- The work of a copy engine, by its name: Memcpy HtoD (Pinned -> Device), CopyDeviceToHost, Memset (Device). From one
-- GPU to another is PtoP. Arrays (A) are memory of the device.
CREATE MACRO IF NOT EXISTS direction_of_gpu_copy(name) AS
    CASE
        WHEN regexp_matches(name, '(?i)mem_?set|fill') THEN 'fill'
        WHEN regexp_matches(name, '\bHto[DA]|HostToDevice') THEN 'host to device'
        WHEN regexp_matches(name, '\b[DA]toH|DeviceToHost') THEN 'device to host'
        WHEN regexp_matches(name, '\b[DAP]to[DAP]|DeviceToDevice|PeerToPeer') THEN 'device to device'
        WHEN regexp_matches(name, '\bHtoH|HostToHost') THEN 'host to host'
        WHEN regexp_matches(name, '(?i)mem_?cpy|copy|^dma_request$') THEN 'other'
    END;

-- Whether a GPU kernel multiplies groups of rows, by its name: fused_moe_kernel of vLLM and SGLang, grouped kernels of CUTLASS,
-- DeepGEMM, TensorRT-LLM, composable_kernel and Triton; not kernels that sort, quantise or add up rows.
CREATE MACRO IF NOT EXISTS is_name_of_grouped_kernel(name) AS
    regexp_matches(
        name,
        '(?i)grouped_?(gemm|mm|matmul)|group_?gemm|GroupProblemShape|moe_?gemm|fused_moe_kernel|_matmul_ogs_|moe_mmk|gmm_kernel'
    )
    AND NOT regexp_matches(work_of_kernel(name), '(?i)align|sort|top_?k|gating|permute|scatter_add|prepare|setup');
