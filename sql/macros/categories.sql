-- The name of an operator as categories compare it: rmsnorm for RmsNorm, aten::rms_norm and aclnnRmsNorm; without a number that
-- a version or Triton appends. NULL for a name with templates, which are names of other things.
CREATE MACRO IF NOT EXISTS word_of_operator(name) AS
    CASE
        WHEN NOT contains(name, '<')
            THEN regexp_replace(
                regexp_replace(
                    regexp_replace(lower(name), '^(\w+::)+|^aclnn(inplace)?|_|aicore$|withimplmode$', '', 'g'),
                    '([^n])v\d+d?$',
                    '\1'
                ),
                '\d+$',
                ''
            )
    END;

-- What an operator computes or moves, by its name; NULL where the name does not say it. The first that fits decides: what is a
-- special case of another one, or ends in it, comes before it. Fused ones are what takes them longest: a matmul that norms its
-- result is a matrix product, and all that prepares query, key and value is attention.
CREATE MACRO IF NOT EXISTS category_of_word(word) AS
    CASE
        WHEN regexp_matches(
            word, '^moe|groupedmatmul|groupedmm|dispatch(ffn|gmm|mlp|expert)|expert|^(fused|mega)(deep)?moe'
        ) THEN 'experts'
        WHEN regexp_matches(
            word,
            '^(apply|fused|npuapply)(fused)?(ema)?(adam|adagrad|adadelta|momentum|sgd|lamb|lars|rmsprop|ftrl|came|muon)'
            || '|^apply(centered|gradientdescent|kerasmomentum|proximal|powersign|addsign)|^sgd$'
        ) THEN 'optimizer'
        WHEN regexp_matches(
            word,
            'attention|attn|^mha|scaleddotproduct|(^|ring|flash)mla(prolog|preprocess|prefill|decode|kernel|$)|rotary'
            || '|(^|[^p])rope(siso|cache|grad|kernel|[^a-z]|$)|reshapeandcache|kvcache|storecache|lightningindexer'
            || '|deltarule|selectivescan|qkv'
        ) THEN 'attention'
        WHEN regexp_matches(word, '^(quant|depthwise|causal|deformable|extend)?conv[123]|convolution|^im2col|^col2im')
            THEN 'convolution'
        WHEN regexp_matches(
            word,
            'matmul|(^|[^b])gemm|gemv|^(b|add|badd)*(mm|mv)$|^addmmactivation|^(scaled|int)mm|^linear(backward)?$'
            || '|einsum|^ffn$'
        ) THEN 'matrix product'
        WHEN regexp_matches(word, '^(foreach)?(lp|clip|re|linalg|linalgvector|vector)?norm$|^clipbynorm|squaresum')
            THEN 'reduction'
        WHEN regexp_matches(word, 'norm([^ao]|$)|normali[sz]|^bn(training|infer)|welford') THEN 'normalisation'
        WHEN regexp_matches(
            word, 'softmax|relu|gelu|silu|swish|swiglu|geglu|sigmoid|^tanh|^(c|s)?elu|softplus|^mish|^glu$|^threshold'
        ) THEN 'activation'
        WHEN regexp_matches(
            word,
            'embedding|gather(v|elements|nd|$)|scatter(nd|elements|add|update|reduce|$)|^index|^linearindex|^take|sort'
            || '|topk|topp|nonzero|unique|onehot|searchsorted|bucketize|maskedselect|multinomial|rejection'
            || '|recoveredtokens|bincount|histc'
        ) THEN 'index and sort'
        WHEN regexp_matches(
            word,
            '^cast|transdata|^trans$|transpose|permute|quant|^mem(set|cpy|copy)|^(full|fill|zero|one)s?(like)?$|^cat$'
            || '|^fillscalar$|^concat|slice|^(un)?split|^(un)?pad$|^pad|^tiled?$|^broadcastto|^expand|^tensormove'
            || '|asstrided|copy|^clone|contiguous|^stack|^(un)?pack$|^identity|^reshape|^range$|^arange|^repeat|^roll$'
            || '|^flip$|^reverse$'
        ) THEN 'copy and conversion'
        WHEN regexp_matches(
            word,
            '^(reduce|arg)(max|min|sum|mean|prod|any|all|std|var|log|$)|cumsum|^(nan)?(sum|prod|mean|std|var|varmean)$'
            || '|^a?(max|min)$|^(all|any)$|loss|entropy|pool|^biasaddgrad|^logcumsumexp|^logsumexp|^isallfinite'
            || '|^npugetfloatstatus'
        ) THEN 'reduction'
        WHEN regexp_matches(
            word,
            '^(add|mul|sub|rsub|(real|floor|true)?div(ide)?|(floor)?mod|remainder|fmod|pow|axpy|lerp)(s|n|no(nan))?$'
            || '|^mulsadd|^(add|mul|bias)(cmul|cdiv|add|tensor|scalar)$'
            || '|^(neg|sgn|exp|expm1|log|log1p|log2|r?sqrt|reciprocal|square|abs|sin|cos)$'
            || '|^(floor|ceil|round|trunc|sign|erf|inv|invgrad|sqrtgrad|rsqrtgrad)$|^(not)?equal$'
            || '|^(greater|less)(equal)?$|^(eq|ne|gt|ge|lt|le)(tensor|scalar)?$|^(logical|bitwise)(and|or|not|xor)$'
            || '|^(maximum|minimum)|^clamp|^clip|^select$|^where$|^masked?(fill|scale)|dropout|^foreach|^dsa|random'
            || '|uniform|bernoulli|^normal$|^accumulate|^assign|^isnan|^isinf|^triu|^tril'
        ) THEN 'element by element'
    END;

-- The kernels that the host asked for while an optimizer made its step, by the range that PyTorch records around it. `asked`,
-- `ops` and `strings` are the names of CTEs of kernels.asked, trace.op and trace.string.
CREATE MACRO IF NOT EXISTS kernels_of_optimizers(asked, ops, strings) AS TABLE
    WITH optimizer_step AS (
        SELECT op.tid, op.start_ns, max(op.end_ns) AS end_ns
        FROM query_table(ops) AS op
        JOIN query_table(strings) AS name ON name.text_id = op.name_id
        WHERE starts_with(name.text, 'Optimizer.step#')
        GROUP BY op.tid, op.start_ns
    )
    SELECT DISTINCT asked_kernel.kernel_id
    FROM query_table(asked) AS asked_kernel
    ASOF JOIN optimizer_step
        ON optimizer_step.tid = asked_kernel.tid AND asked_kernel.asked_ns >= optimizer_step.start_ns
    WHERE asked_kernel.asked_ns < optimizer_step.end_ns;

-- The device of a rank, where it has one alone, and how fast its memory is by the data sheet. `chips` and `products` are the
-- names of CTEs of trace.chip and roofline.product.
CREATE MACRO IF NOT EXISTS memory_of_device(chips, products) AS TABLE
    WITH device AS (
        SELECT min(product) AS product
        FROM query_table(chips)
        HAVING count(DISTINCT product) = 1
    )
    SELECT min(known.product) AS product, min(known.memory_gb_s) AS memory_gb_s
    FROM device
    -- One device, and few products.
    JOIN query_table(products) AS known ON regexp_matches(device.product, known.pattern)
    HAVING count(*) = 1;

-- The sums of kernels by `category`, which can be any key, for rated_categories(). `kernels` is the name of a CTE with
-- category, duration_ns, flops, known_flops and possible_flops as in mfu.judged, and bytes as in roofline.moved; `memory` that
-- of one with memory_gb_s.
CREATE MACRO IF NOT EXISTS sums_of_kernels(kernels, memory) AS TABLE
    SELECT
        category,
        sum(duration_ns)::BIGINT AS total_ns,
        count(*) AS kernel_count,
        (SELECT memory_gb_s FROM query_table(memory)) AS memory_gb_s,
        TRY_CAST(sum(flops) AS BIGINT) AS flops,
        coalesce(sum(duration_ns) FILTER (flops IS NOT NULL), 0)::BIGINT AS flops_ns,
        TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
        TRY_CAST(sum(possible_flops) // 1000 AS BIGINT) AS possible_flops,
        TRY_CAST(sum(bytes) AS BIGINT) AS bytes,
        coalesce(sum(duration_ns) FILTER (bytes IS NOT NULL), 0)::BIGINT AS bytes_ns,
        TRY_CAST(sum(known_flops) FILTER (bytes IS NOT NULL) AS BIGINT) AS placed_flops,
        TRY_CAST(sum(possible_flops) FILTER (bytes IS NOT NULL) // 1000 AS BIGINT) AS possible_placed_flops,
        TRY_CAST(sum(bytes) FILTER (known_flops IS NOT NULL) AS BIGINT) AS placed_bytes,
        coalesce(sum(duration_ns) FILTER (known_flops IS NOT NULL AND bytes IS NOT NULL), 0)::BIGINT AS placed_ns
    FROM query_table(kernels)
    GROUP BY category;

-- The same over ranks: `ranks` is the name of a CTE with the columns of sums_of_kernels(). Of ranks on different devices, the
-- bandwidth of the memory is not said.
CREATE MACRO IF NOT EXISTS sums_of_ranks(ranks) AS TABLE
    SELECT
        category,
        sum(total_ns)::BIGINT AS total_ns,
        sum(kernel_count)::BIGINT AS kernel_count,
        CASE WHEN count(DISTINCT memory_gb_s) = 1 AND count(memory_gb_s) = count(*) THEN min(memory_gb_s) END AS memory_gb_s,
        TRY_CAST(sum(flops) AS BIGINT) AS flops,
        sum(flops_ns)::BIGINT AS flops_ns,
        TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
        TRY_CAST(sum(possible_flops) AS BIGINT) AS possible_flops,
        TRY_CAST(sum(bytes) AS BIGINT) AS bytes,
        sum(bytes_ns)::BIGINT AS bytes_ns,
        TRY_CAST(sum(placed_flops) AS BIGINT) AS placed_flops,
        TRY_CAST(sum(possible_placed_flops) AS BIGINT) AS possible_placed_flops,
        TRY_CAST(sum(placed_bytes) AS BIGINT) AS placed_bytes,
        sum(placed_ns)::BIGINT AS placed_ns
    FROM query_table(ranks)
    GROUP BY category;

-- The rates of categories of kernels, of their sums: what share of the time of all kernels they take, how fast they compute and
-- move data, and whether computing or the memory bounds them. `summed` is the name of a CTE.
CREATE MACRO IF NOT EXISTS rated_categories(summed) AS TABLE
    WITH placed AS (
        SELECT
            *,
            placed_flops / nullif(placed_bytes, 0) AS flops_per_byte,
            possible_placed_flops / nullif(placed_ns * memory_gb_s, 0) AS ridge_flops_per_byte
        FROM query_table(summed)
    )
    SELECT
        category,
        total_ns,
        total_ns / nullif(sum(total_ns) OVER (), 0) AS share,
        kernel_count,
        flops / nullif(flops_ns, 0) / 1000 AS achieved_tflops,
        known_flops / nullif(possible_flops, 0) AS efficiency,
        bytes / nullif(bytes_ns, 0) AS bandwidth_gb_s,
        bytes / nullif(bytes_ns * memory_gb_s, 0) AS memory_share,
        CASE
            WHEN placed_ns * 2 < total_ns THEN NULL
            WHEN flops_per_byte > ridge_flops_per_byte THEN 'computing'
            WHEN flops_per_byte <= ridge_flops_per_byte THEN 'memory'
        END AS bound,
        flops_ns / nullif(total_ns, 0) AS flops_time_share,
        bytes_ns / nullif(total_ns, 0) AS bytes_time_share,
        flops_per_byte,
        ridge_flops_per_byte,
        memory_gb_s,
        flops,
        flops_ns,
        known_flops,
        possible_flops,
        bytes,
        bytes_ns,
        placed_flops,
        possible_placed_flops,
        placed_bytes,
        placed_ns
    FROM placed;

-- Whether kernels of a symbol of chain.symbol read and write whole tensors and compute little, and whether what they write is
-- none of the inputs of their op.
CREATE MACRO IF NOT EXISTS moves_whole_tensors(symbol) AS contains('xdabpmsrqicnehfwguytlo', symbol);
CREATE MACRO IF NOT EXISTS writes_result(symbol) AS symbol NOT IN ('c', 'm', 's', 'h');
