-- What is said of an NPU or of a GPU: of the device of the ranks, and where both are compared, of both.
CREATE MACRO IF NOT EXISTS for_device(npu, gpu) AS
    CASE getvariable('device_kind')
        WHEN 'NPU' THEN npu
        WHEN 'GPU' THEN gpu
        ELSE concat_ws(' or ', nullif(npu, ''), nullif(gpu, ''))
    END;

-- A time as people read it, in the largest unit that leaves a whole number before the point.
CREATE MACRO IF NOT EXISTS shown_time(time_ns) AS
    CASE
        WHEN abs(time_ns) >= 1000000000 THEN format('{:.2f} s', time_ns / 1000000000)
        WHEN abs(time_ns) >= 1000000 THEN format('{:.1f} ms', time_ns / 1000000)
        WHEN abs(time_ns) >= 1000 THEN format('{:.1f} us', time_ns / 1000)
        ELSE format('{} ns', round(time_ns)::BIGINT)
    END;

-- Why a row is set aside whose times is_host_time() or is_device_time() rejects, with the longest time that this allows.
CREATE MACRO IF NOT EXISTS why_set_aside(start_ns, end_ns, longest_ns) AS
    CASE
        WHEN end_ns < start_ns THEN 'they end before they start'
        WHEN (end_ns >= start_ns) IS NULL THEN 'they have no time'
        WHEN (TRY(end_ns - start_ns) <= longest_ns) IS NOT TRUE THEN 'they last longer than the recording'
        ELSE 'they lie outside of the recording by more than its length'
    END;

-- The length of the recording, where a reason to set rows aside compares with it.
CREATE MACRO IF NOT EXISTS threshold_of(reason, longest_ns) AS if(contains(reason, 'the recording'), longest_ns, NULL)::BIGINT;

-- The time of a row that is set aside; NULL where its times cannot be true.
CREATE MACRO IF NOT EXISTS time_set_aside(reason, start_ns, end_ns) AS
    if(starts_with(reason, 'they lie outside'), TRY(end_ns - start_ns), NULL)::BIGINT;

-- The rows of trace.set_aside. `rejected` is the name of a CTE with what, start_ns, end_ns and longest_ns, the longest time
-- that is possible; `reason` is why a row is set aside, NULL where it is not.
CREATE MACRO IF NOT EXISTS set_aside_of(rejected, reason) AS TABLE
    WITH reasoned_row AS (
        SELECT what, start_ns, end_ns, longest_ns, reason AS why
        FROM query_table(rejected)
    )
    SELECT
        what,
        why AS reason,
        max(threshold_of(why, longest_ns)) AS threshold_ns,
        count(*) AS row_count,
        TRY_CAST(sum(time_set_aside(why, start_ns, end_ns)) AS BIGINT) AS time_ns
    FROM reasoned_row
    WHERE why IS NOT NULL
    GROUP BY what, why;

-- A warning of rows that are set aside.
CREATE MACRO IF NOT EXISTS said_of_set_aside(what, reason, threshold_ns, row_count) AS
    format(
        '{} set aside because {}{}: {}', what, reason, coalesce(' (' || shown_time(threshold_ns) || ')', ''), row_count
    );

-- By how much a time changed, with its sign.
CREATE MACRO IF NOT EXISTS signed_time(time_ns) AS if(time_ns < 0, '-', '+') || shown_time(abs(time_ns));

-- Names of ranks in words; of more than eight, the first eight and the number of the others.
CREATE MACRO IF NOT EXISTS shown_ranks(names) AS
    CASE
        WHEN len(names) = 1 THEN 'rank ' || names[1]
        WHEN len(names) <= 8 THEN 'ranks ' || array_to_string(names[:-2], ', ') || ' and ' || names[-1]
        ELSE format('ranks {} and {} more', array_to_string(names[:8], ', '), len(names) - 8)
    END;

-- A ratio in 10^-12 as a text: 45.2%.
CREATE MACRO IF NOT EXISTS percent(ratio) AS round(ratio / 10000000000, 2)::VARCHAR || '%';

-- The mean of such ratios as a text: 45.2%.
CREATE MACRO IF NOT EXISTS mean_percent(ratios) AS percent(list_sum(ratios) / len(ratios));

-- Means of such ratios, which come as one list per call: for each index, the mean over the calls with a ratio there, as
-- 45.2%,46.0%.
CREATE MACRO IF NOT EXISTS mean_percents(calls) AS
    nullif(
        array_to_string(
            list_transform(
                range(1, len(calls[1]) + 1),
                lambda kernel_index: mean_percent(
                    list_filter(list_transform(calls, lambda ratios: ratios[kernel_index]), lambda one: one IS NOT NULL)
                )
            ),
            ','
        ),
        ''
    );

-- Names in evidence, the most important first: the first three, each cut to 60 letters.
CREATE MACRO IF NOT EXISTS shown_names(names) AS
    array_to_string(list_transform(names[:3], lambda name: left(name, 60)), ', ') || if(len(names) > 3, ', ...', '');

-- The remark of evidence on kernels that are not all critical, as in critical.kernel: the most of their time that can be won.
CREATE MACRO IF NOT EXISTS unless_critical(duration_ns, critical_ns) AS
    CASE
        WHEN critical_ns = 0 THEN '; 0 can be won: other kernels run beside them, or the device waits for the host after them'
        WHEN critical_ns * 100 <= duration_ns * 99
            THEN format(
                '; in {} of this nothing can be won: other kernels run beside, or the device waits for the host afterwards',
                shown_time(duration_ns - critical_ns)
            )
        ELSE ''
    END;

-- The part of collectives that can be won if some or all of them are not critical; for evidence.
CREATE MACRO IF NOT EXISTS won_of_collectives(is_partly_won, critical_ns, win_ns) AS
    CASE
        WHEN NOT coalesce(is_partly_won, false) THEN ''
        WHEN critical_ns = 0 THEN '; 0 can be won: the device waits for the host afterwards'
        ELSE format('; {} can be won: the device waits for the host after the others', shown_time(win_ns))
    END;

-- A time in evidence that may not be known.
CREATE MACRO IF NOT EXISTS known_time(time_ns) AS coalesce(shown_time(time_ns), 'a time not known');

-- A share as people read it: 12.3%; for the evidence of rules.
CREATE MACRO IF NOT EXISTS shown_share(share) AS format('{:.1f}%', share * 100);

-- Input shapes as a sentence names them: without quotes and inputs that are no tensors behind them, cut to 60 letters.
CREATE MACRO IF NOT EXISTS shown_shapes(shapes) AS left(rtrim(trim(shapes, '"'), ';'), 60);
