"""What repeats in the SQL of the project, as macros. None hides a table."""

import re
from functools import cache, lru_cache

import duckdb

from prof_analysis.engine.statements import run

# The interval that ends at outer_end_ns and started no later than start_ns covers [start_ns, end_ns]. With a tolerance,
# one that has not ended at start_ns may end that much too early; touching neighbours never cover each other.
# text_id numbers the texts of sources that do not, by a hash of 63 bits. path_key is a hash of 128 bits of a module in a path.
#
# A list of shapes is `"4096,1024;1024,64"`, quotes included: tensors split by ';', dims by ','. Dims that are no positive
# numbers are NULL, and so is a count of elements that no memory holds (2^42), which keeps products of three in range.
#
# mask_area counts the elements of an attention mask of rows x columns that sparse_mode leaves, as CANN numbers the modes:
# 0 a band from the upper left, 1 all, 2 below the diagonal from the upper left, 3 from the lower right, 4 a band from the lower
# right, 5 and 6 like 3 with all of the first prefix columns. mask_below counts those with column <= row + shift.
_MACROS = r"""
CREATE MACRO IF NOT EXISTS covers(outer_end_ns, start_ns, end_ns) AS
    outer_end_ns >= end_ns
    OR (outer_end_ns > start_ns AND outer_end_ns + getvariable('nesting_tolerance_ns') >= end_ns);

-- The smallest value that at least `percent` of all values do not exceed, of values with the number of those up to each.
CREATE MACRO IF NOT EXISTS nearest_rank(value, count_up_to, count_of_all, percent) AS
    min(value) FILTER (count_up_to * 100 >= count_of_all * percent);

-- Over all values of a group, in integers up to the root: so it does not depend on the order in which they come.
CREATE MACRO IF NOT EXISTS standard_deviation(value) AS
    sqrt((count(value) * sum(value::HUGEINT * value) - sum(value) * sum(value))::DOUBLE) / count(value);

CREATE MACRO IF NOT EXISTS class_of_traced_module(recorded_name) AS
    coalesce(nullif(regexp_extract(recorded_name, '(?s)^nn\.Module: (.+?)(_\d+)?$', 1), ''), recorded_name);

-- The type in the name of a communication operator: hcom_allReduce_ in hcom_allReduce__868_0_1. The numbers are the last digits
-- of the group, the place of the operator in it, and its repetition, which was not written in 2023. @ begins the whole group.
CREATE MACRO IF NOT EXISTS type_of_communication(name) AS
    nullif(regexp_extract(name, '(?s)^(.+_)(_\d+){1,3}(@.*)?$', 1), '');

-- What operators of a type do: allreduce of hcom_allReduce_.
CREATE MACRO IF NOT EXISTS operation_of_communication(type) AS lower(regexp_extract(type, '(?i)^(?:hcom_)?([a-z]+)', 1));

-- @ begins the whole group behind the name of a communication operator; few versions write it.
CREATE MACRO IF NOT EXISTS name_without_group(name) AS regexp_replace(name, '(?s)@.*$', '');

CREATE MACRO IF NOT EXISTS direction_of_communication(name) AS
    CASE lower(regexp_extract(name, '(?i)^hcom_(send|receive|batchsendrecv)', 1))
        WHEN 'send' THEN 'send'
        WHEN 'receive' THEN 'receive'
        WHEN 'batchsendrecv' THEN 'both'
    END;

-- What the tasks of a communication operator do, by their type.
CREATE MACRO IF NOT EXISTS role_of_communication_task(type) AS
    CASE
        WHEN type IN ('Memcpy', 'Reduce_Inline', 'Reduce Inline') THEN 'transfer'
        WHEN type IN ('Notify_Wait', 'Notify Wait') THEN 'wait'
        WHEN type IS NOT NULL THEN 'other'
    END;

-- Writers before 2024 name no link: then it is within the device where no other rank is named.
CREATE MACRO IF NOT EXISTS is_within_device(link, source_rank, destination_rank) AS
    coalesce(link = 'ON_CHIP', coalesce(destination_rank, source_rank) IS NOT DISTINCT FROM source_rank);

CREATE MACRO IF NOT EXISTS engine_of_cores(core) AS
    CASE
        WHEN core = 'AI_CORE' THEN 'matrix'
        WHEN core = 'MIX_AIC' THEN 'matrix and vector'
        WHEN core IN ('AI_VECTOR_CORE', 'MIX_AIV') THEN 'vector'
        WHEN core IN ('AI_CPU', 'HOST_CPU') THEN 'cpu'
    END;

-- torch_npu wraps steps in ops of this name, and since 2026 also in mstx ranges of the domain default.
CREATE MACRO IF NOT EXISTS is_name_of_step(name) AS starts_with(name, 'ProfilerStep#');

-- What torch_npu itself records with mstx marks and ranges; communication operators as JSON.
CREATE MACRO IF NOT EXISTS role_of_mark(message, domain) AS
    CASE
        WHEN domain = 'mfu_flops' THEN 'flops'
        WHEN domain = 'flash_attn_args' THEN 'attention'
        WHEN regexp_matches(message, '^\{\s*"(streamId|count|dataType|srcRank|destRank|groupName|opName)"') THEN 'communication'
        WHEN message = 'dataloader' THEN 'data loading'
        WHEN message = 'save_checkpoint' THEN 'checkpoint'
        WHEN is_name_of_step(message) THEN 'step'
    END;

-- What a call into CANN does; operators, aclnn..., are none of these: what they launch is a call inside.
CREATE MACRO IF NOT EXISTS role_of_host_call(name) AS
    CASE
        WHEN contains(name, 'Synchronize') THEN 'synchronise'
        WHEN regexp_matches(name, '(?i)^(acl)?(op)?compile|AndExecute$') THEN 'compile'
        WHEN regexp_matches(name, '(?i)mem_?co?py') THEN 'copy'
        WHEN regexp_matches(name, '(?i)malloc|^(aclrt|rt)?(dev|host|mem)?free') THEN 'allocate'
        WHEN regexp_matches(name, '(?i)launch') THEN 'launch'
    END;

-- A group of ranks as the profiler's own files name it: two hashes of 32 bits of its name, one behind the other.
CREATE MACRO IF NOT EXISTS hash_of_text(text, factor) AS
    list_reduce(
        list_transform(string_split(text, ''), lambda letter: unicode(letter)::UBIGINT),
        lambda hashed, letter: (hashed * factor + letter) & 4294967295,
        0::UBIGINT
    );

CREATE MACRO IF NOT EXISTS hash_of_group(name) AS
    ((hash_of_text(name, 29) << 32) + hash_of_text(name, 131))::VARCHAR;

-- The type in the name of a kernel, where a rule makes it certain; for names that the profile gives no type (Level0). Of 14,000
-- kernels of real profiles with both, none has another type. Names such as ReduceSum47 say too little: it is a ReduceSumD.
CREATE MACRO IF NOT EXISTS type_of_compute(name) AS
    CASE
        WHEN starts_with(name, 'aclnn')
            THEN nullif(regexp_extract(name, '^aclnn[A-Za-z0-9]+_[A-Za-z0-9]+_([A-Za-z0-9]+)$', 1), '')
        WHEN starts_with(name, 'trans_') THEN nullif(regexp_extract(name, '^trans_([A-Za-z]+)_\d+$', 1), '')
        WHEN starts_with(name, 'atomic_memset') OR ends_with(name, '_MemSet') THEN 'MemSet'
        WHEN regexp_full_match(name, 'Conv[23]D\d+') THEN name[:6]
        WHEN regexp_full_match(name, '[A-Z][A-Za-z]+') THEN name
    END;

-- Durations of a sum in whole ns, halves up.
CREATE MACRO IF NOT EXISTS ns_of_ps(picoseconds) AS ((picoseconds + 500) // 1000)::BIGINT;

-- A time as people read it, in the largest unit that leaves a whole number before the point.
CREATE MACRO IF NOT EXISTS shown_time(time_ns) AS
    CASE
        WHEN abs(time_ns) >= 1000000000 THEN format('{:.2f} s', time_ns / 1000000000)
        WHEN abs(time_ns) >= 1000000 THEN format('{:.1f} ms', time_ns / 1000000)
        WHEN abs(time_ns) >= 1000 THEN format('{:.1f} us', time_ns / 1000)
        ELSE format('{} ns', round(time_ns)::BIGINT)
    END;

-- Names of ranks in words; of many the first ones.
CREATE MACRO IF NOT EXISTS shown_ranks(names) AS
    CASE
        WHEN len(names) = 1 THEN 'rank ' || names[1]
        WHEN len(names) <= 8 THEN 'ranks ' || array_to_string(names[:-2], ', ') || ' and ' || names[-1]
        ELSE format('ranks {} and {} more', array_to_string(names[:8], ', '), len(names) - 8)
    END;

CREATE MACRO IF NOT EXISTS known(text) AS if(text IN ('', 'N/A', 'NULL'), NULL, text);

CREATE MACRO IF NOT EXISTS text_id(text) AS if(text IS NULL, NULL, (hash(text, getvariable('text_salt')) >> 1)::BIGINT);

CREATE MACRO IF NOT EXISTS path_key(parent_key, name_id, number) AS
    (hash((parent_key >> 64)::UBIGINT, name_id, number)::UHUGEINT << 64)
    + hash((parent_key & 18446744073709551615)::UBIGINT, number, name_id);

CREATE MACRO IF NOT EXISTS thread_id(pid, tid) AS TRY(pid * 4294967296 + tid);

CREATE MACRO IF NOT EXISTS ns_of_us(microseconds) AS TRY((TRY_CAST(microseconds AS DECIMAL(30, 3)) * 1000)::BIGINT);

-- The same for text that mostly has 16 digits and three decimals: 0.09 us a value, not 0.26. Shorter text can be 1.5e3.
CREATE MACRO IF NOT EXISTS ns_of_us_timestamp(microseconds) AS
    CASE
        WHEN length(microseconds) > 15 AND instr(microseconds, '.') = length(microseconds) - 3
        THEN TRY_CAST(replace(microseconds, '.', '') AS BIGINT)
        ELSE ns_of_us(microseconds)
    END;

-- The same for up to 12 digits before the point: 0.03 us a value, not 0.14.
CREATE MACRO IF NOT EXISTS ns_of_us_duration(microseconds) AS TRY((TRY_CAST(microseconds AS DECIMAL(18, 3)) * 1000)::BIGINT);

CREATE MACRO IF NOT EXISTS tensor_list(shapes) AS trim(shapes, '"'' ');

CREATE MACRO IF NOT EXISTS dims_of(shape) AS
    CASE WHEN regexp_full_match(shape, '[1-9][0-9]{0,9}(,[1-9][0-9]{0,9})*') THEN string_split(shape, ',')::BIGINT[] END;

CREATE MACRO IF NOT EXISTS count_of(dims) AS CASE WHEN list_product(dims) <= 4398046511104 THEN list_product(dims)::BIGINT END;

CREATE MACRO IF NOT EXISTS format_of(format) AS nullif(replace(upper(trim(format)), 'FORMAT_', ''), '');

CREATE MACRO IF NOT EXISTS is_padded_format(format) AS coalesce(contains(format, 'FRACTAL') OR ends_with(format, 'C0'), false);

-- Whether two lengths can be one: a padded length is up to a block longer than the true one.
CREATE MACRO IF NOT EXISTS agrees(length, is_padded, other_length, other_is_padded) AS
    length = other_length
    OR (is_padded AND length - other_length BETWEEN 1 AND 63)
    OR (other_is_padded AND other_length - length BETWEEN 1 AND 63);

-- Unit of a hardware counter by its name, as all versions and chips use it; NULL for a name that says none.
CREATE MACRO IF NOT EXISTS unit_of_counter(name) AS
    CASE
        WHEN ends_with(name, '_time') THEN 'ns'
        WHEN ends_with(name, '_cycles') THEN 'cycles'
        WHEN name = 'cube_utilization' THEN '%'
        WHEN regexp_matches(name, '_(ratio|rate)$|^memory_bound$') THEN 'ratio'
        WHEN regexp_matches(name, '_bw(_[a-z]+)?$') THEN 'GB/s'
        WHEN ends_with(name, '_datas') THEN 'KB'
        WHEN regexp_matches(name, '_(hit|miss|miss_allocate|victim)$') THEN 'count'
        WHEN ends_with(name, '_fops') THEN 'operations'
    END;

-- The mean of a ratio over kernels that have it, by their times; in integers up to the division, so that it does not depend on
-- the order. What is no number, or no ratio by any stretch, does not count.
CREATE MACRO IF NOT EXISTS ratio_time(ratio, duration_ns) AS
    CASE WHEN abs(ratio) <= 1000000 THEN round(ratio * 1000000000000)::HUGEINT * duration_ns END;

CREATE MACRO IF NOT EXISTS mean_ratio(ratio, duration_ns) AS
    sum(ratio_time(ratio, duration_ns))
        / nullif(sum(duration_ns) FILTER (ratio_time(ratio, duration_ns) IS NOT NULL), 0) / 1000000000000;

-- The same of a value of any size, to six decimals.
CREATE MACRO IF NOT EXISTS value_time(value, duration_ns) AS
    CASE WHEN abs(value) <= 10000000000000 THEN round(value * 1000000)::HUGEINT * duration_ns END;

CREATE MACRO IF NOT EXISTS mean_value(value, duration_ns) AS
    sum(value_time(value, duration_ns))
        / nullif(sum(duration_ns) FILTER (value_time(value, duration_ns) IS NOT NULL), 0) / 1000000;

-- A ratio in 10^-12.
CREATE MACRO IF NOT EXISTS percent(ratio) AS round(ratio / 10000000000, 2)::VARCHAR || '%';

-- Lists of ratios, one a call: the mean of each place over the calls that have one there, as 45.2%,46.0%.
CREATE MACRO IF NOT EXISTS mean_percent(ratios) AS percent(list_sum(ratios) / len(ratios));

CREATE MACRO IF NOT EXISTS mean_percents(calls) AS
    nullif(
        array_to_string(
            list_transform(
                range(1, len(calls[1]) + 1),
                lambda place: mean_percent(
                    list_filter(list_transform(calls, lambda ratios: ratios[place]), lambda one: one IS NOT NULL)
                )
            ),
            ','
        ),
        ''
    );

-- What is possible in a time at the rated clock in MHz, at the clock that took so many thousandths of cycles in it.
CREATE MACRO IF NOT EXISTS at_clock(possible, clock_mhz, duration_ns, cycles) AS
    TRY((possible * cycles // (clock_mhz * duration_ns::HUGEINT))::HUGEINT);

CREATE MACRO IF NOT EXISTS lengths_of(json_list) AS
    CASE
        WHEN list_min(TRY_CAST(json_list AS BIGINT[])) >= 0 AND list_max(TRY_CAST(json_list AS BIGINT[])) <= 4398046511104
            THEN TRY_CAST(json_list AS BIGINT[])
    END;

CREATE MACRO IF NOT EXISTS ramp_sum(steps, height) AS
    CASE
        WHEN steps <= 0 THEN 0::HUGEINT
        WHEN steps <= height THEN steps::HUGEINT * (steps + 1) // 2
        ELSE height::HUGEINT * (height + 1) // 2 + (steps - height)::HUGEINT * height
    END;

CREATE MACRO IF NOT EXISTS mask_below(rows, columns, shift) AS
    ramp_sum(rows + greatest(least(shift, columns), -rows), columns)
    - ramp_sum(greatest(least(shift, columns), -rows), columns);

CREATE MACRO IF NOT EXISTS mask_band(rows, columns, first_shift, last_shift) AS
    greatest(mask_below(rows, columns, last_shift) - mask_below(rows, columns, first_shift - 1), 0);

CREATE MACRO IF NOT EXISTS mask_area(sparse_mode, rows, columns, before, after, prefix) AS
    CASE sparse_mode
        WHEN 0 THEN mask_band(rows, columns, -before, after)
        WHEN 1 THEN rows::HUGEINT * columns
        WHEN 2 THEN mask_below(rows, columns, 0)
        WHEN 3 THEN mask_below(rows, columns, columns - rows)
        WHEN 4 THEN mask_band(rows, columns, columns - rows - before, columns - rows + after)
        WHEN 5 THEN rows::HUGEINT * prefix + mask_below(rows, columns - prefix, columns - rows - prefix)
        WHEN 6 THEN rows::HUGEINT * prefix + mask_below(rows, columns - prefix, columns - rows - prefix)
    END;
"""


def create_macros(connection: duckdb.DuckDBPyConnection, sql: str | None = None) -> None:
    """Create the macros that an SQL text calls, and those that they call; without a text, all.

    All take as long as opening a database, and most tables need few.
    """
    run(connection, _MACROS if sql is None else _called_in(sql))


@lru_cache(maxsize=256)  # The project's own SQL comes again for each rank; what users ask is not to be kept for ever.
def _called_in(sql: str) -> str:
    """The statements of the macros that an SQL text calls. A macro calls only those before it."""
    calls, needed = set(_CALL.findall(sql.lower())), ""
    for name, (statement, called) in reversed(_statements().items()):
        if name in calls:
            needed = statement + needed
            calls.update(called)
    return needed


@cache
def _statements() -> dict[str, tuple[str, frozenset[str]]]:
    """The statement of each macro, and what it calls."""
    statements = re.split(r"^(?=CREATE MACRO )", _MACROS, flags=re.MULTILINE)[1:]
    return {_CALL.findall(statement)[0]: (statement, frozenset(_CALL.findall(statement))) for statement in statements}


_CALL = re.compile(r"\w+(?=\s*\()")
