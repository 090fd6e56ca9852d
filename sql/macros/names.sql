-- The text; NULL for the words that exports write where there is no text.
CREATE MACRO IF NOT EXISTS known(text) AS if(text IN ('', 'N/A', 'NULL'), NULL, text);

-- The module class in the name of a range of the Python tracer: Linear in nn.Module: Linear_0.
CREATE MACRO IF NOT EXISTS class_of_traced_module(recorded_name) AS
    coalesce(nullif(regexp_extract(recorded_name, '(?s)^nn\.Module: (.+?)(_\d+)?$', 1), ''), recorded_name);

-- The number in the name of a module that was traced: 3 in nn.Module: Linear_3.
CREATE MACRO IF NOT EXISTS number_of_traced_module(recorded_name) AS
    TRY_CAST(regexp_extract(recorded_name, '(?s)^nn\.Module: .+_(\d+)$', 1) AS BIGINT);

-- The type in the name of a kernel, where a rule makes it certain; for kernels whose type the profile does not record (Level0).
-- Of 14,000 kernels of real profiles with such a name and a type, none has another type. Names such as ReduceSum47 are not
-- enough: its type is ReduceSumD.
CREATE MACRO IF NOT EXISTS type_of_compute(name) AS
    CASE
        WHEN starts_with(name, 'aclnn')
            THEN nullif(regexp_extract(name, '^aclnn[A-Za-z0-9]+_[A-Za-z0-9]+_([A-Za-z0-9]+)$', 1), '')
        WHEN starts_with(name, 'trans_') THEN nullif(regexp_extract(name, '^trans_([A-Za-z]+)_\d+$', 1), '')
        WHEN starts_with(name, 'atomic_memset') OR ends_with(name, '_MemSet') THEN 'MemSet'
        WHEN regexp_full_match(name, 'Conv[23]D\d+') THEN name[:6]
        WHEN regexp_full_match(name, '[A-Z][A-Za-z]+') THEN name
    END;

-- The type in the name of a communication operator: hcom_allReduce_ in hcom_allReduce__868_0_1. The numbers are the last digits
-- of the group's name, the index of the operator in the group, and its repetition, which writers of 2023 leave out. @ begins
-- the full name of the group.
CREATE MACRO IF NOT EXISTS type_of_communication(name) AS
    nullif(regexp_extract(name, '(?s)^(.+_)(_\d+){1,3}(@.*)?$', 1), '');

-- The last digits of the group's name in the name of an operator, the same on all its ranks: 868 in hcom_allReduce__868_0_1.
CREATE MACRO IF NOT EXISTS group_code(name) AS nullif(regexp_extract(name, '(?s)__(\d+)(_\d+){1,2}(@.*)?$', 1), '');

-- A hash of 32 bits of a text, with its letters as digits of a number to the base `factor`.
CREATE MACRO IF NOT EXISTS hash_of_text(text, factor) AS
    list_reduce(
        list_transform(string_split(text, ''), lambda letter: unicode(letter)::UBIGINT),
        lambda hashed, letter: (hashed * factor + letter) & 4294967295,
        0::UBIGINT
    );

-- The name of a group of ranks in the profiler's own files: two hashes of 32 bits of the group's name, one after the other.
CREATE MACRO IF NOT EXISTS hash_of_group(name) AS
    ((hash_of_text(name, 29) << 32) + hash_of_text(name, 131))::VARCHAR;

-- Whether --filter chooses a name: without it all, else those that contain its text, in upper or lower case.
CREATE MACRO IF NOT EXISTS is_chosen(name) AS
    getvariable('filter') IS NULL OR coalesce(contains(lower(name), lower(getvariable('filter'))), false);

-- The numbers of equal siblings as a suffix of their class, of a sorted list: [3], [0-31], [0,2,5] or [12 of 0-31].
CREATE MACRO IF NOT EXISTS number_range(numbers) AS
    CASE
        WHEN len(numbers) = 0 THEN ''
        WHEN len(numbers) = 1 THEN format('[{}]', numbers[1])
        WHEN numbers[-1] - numbers[1] + 1 = len(numbers) THEN format('[{}-{}]', numbers[1], numbers[-1])
        WHEN len(numbers) < 5 THEN format('[{}]', array_to_string(numbers, ','))
        ELSE format('[{} of {}-{}]', len(numbers), numbers[1], numbers[-1])
    END;

-- The path of modules of the same classes as one text: Model/Layer[0-31]/Linear. `places` has their numbers, a list for each.
CREATE MACRO IF NOT EXISTS folded_path(classes, places, is_backward) AS
    array_to_string(
        list_transform(
            range(1, len(classes) + 1),
            lambda depth: if(is_backward AND depth = len(classes), '[Backward]', '') || classes[depth] || number_range(
                list_sort(
                    list_distinct(
                        list_filter(list_transform(places, lambda numbers: numbers[depth]), lambda one: one IS NOT NULL)
                    )
                )
            )
        ),
        '/'
    );

-- All names of a module, joined by '/': the names around it, '' for an outermost one, and its own. NULL outside modules.
CREATE MACRO IF NOT EXISTS path_of_module(parent_module, module) AS
    if(module IS NULL, NULL, concat_ws('/', nullif(parent_module, ''), module));
