-- The rows of trace.kernel from work on a GPU. `work` is the name of a CTE of it, without waits: with type_id, kind, direction,
-- is_matrix and fp32_as of the kernel, and with launch_id, model_id and block_num as they are in the table.
CREATE MACRO IF NOT EXISTS kernels_of_gpu(work) AS TABLE
    SELECT
        event_id AS kernel_id,
        kind::ENUM('compute', 'communication', 'copy', 'schedule') AS kind,
        name AS name_id,
        type_id,
        NULL::BIGINT AS core_id,
        device_id,
        stream_id,
        NULL::BIGINT AS task_id,
        model_id,
        start_ns,
        end_ns,
        NULL::BIGINT AS step_id,
        launch_id,
        block_num,
        NULL::BIGINT AS mix_block_num,
        NULL::BIGINT AS input_shapes_id,
        NULL::BIGINT AS input_types_id,
        NULL::BIGINT AS input_formats_id,
        NULL::BIGINT AS output_shapes_id,
        NULL::BIGINT AS output_types_id,
        NULL::BIGINT AS output_formats_id,
        event_id AS pmu_id,
        NULL::BIGINT AS hf32_eligible_id,
        if(type_id IS NULL, NULL, 'name')::ENUM('profile', 'name') AS type_from,
        end_ns - start_ns AS duration_ns,
        if(kind = 'communication', direction, NULL)::ENUM('send', 'receive', 'both') AS direction,
        CASE WHEN kind = 'copy' THEN 'copy' WHEN kind = 'compute' AND is_matrix THEN 'matrix' END
            ::ENUM('matrix', 'vector', 'matrix and vector', 'copy', 'cpu') AS engine,
        fp32_as::ENUM('fp32', 'tf32') AS fp32_as
    FROM query_table(work)
    WHERE kind <> 'wait' AND is_device_time(start_ns, end_ns);

-- What the names of kernels of a GPU say: `name`, type_id, operation, is_matrix and fp32_as. `texts` is the name of a CTE of
-- these rows of raw.string.
CREATE MACRO IF NOT EXISTS names_of_gpu_kernels(texts) AS TABLE
    SELECT
        text_id AS name,
        text_id(function_of_kernel(text)) AS type_id,
        operation_of_collective(NULL, text) AS operation,
        multiplies_matrices(text) AS is_matrix,
        fp32_of_kernel(text) AS fp32_as
    FROM query_table(texts);

-- The rows of trace.copy from copies and fills of a GPU. `work` and `strings` are the names of CTEs of these rows of
-- raw.device_work, with launch_id, and of trace.string.
CREATE MACRO IF NOT EXISTS copies_of_gpu(work, strings) AS TABLE
    WITH direction_of_name AS (
        SELECT
            text_id AS name,
            direction_of_gpu_copy(text) AS direction,
            CASE WHEN contains(text, 'Pageable') THEN 'pageable' WHEN contains(text, 'Pinned') THEN 'pinned' END
                AS host_memory
        FROM query_table(strings)
        WHERE text_id IN (SELECT name FROM query_table(work))
    )
    SELECT
        event_id AS copy_id,
        event_id AS kernel_id,
        NULL::BIGINT AS op_id,
        launch_id,
        device_id,
        stream_id,
        start_ns,
        end_ns,
        end_ns - start_ns AS duration_ns,
        direction_of_name.direction
            ::ENUM('host to device', 'device to host', 'device to device', 'host to host', 'fill', 'other') AS direction,
        nullif(greatest(size_bytes, -1), -1) AS size_bytes,
        direction_of_name.host_memory::ENUM('pageable', 'pinned') AS host_memory
    FROM query_table(work)
    LEFT JOIN direction_of_name USING (name)
    WHERE is_device_time(start_ns, end_ns);

-- The rows of trace.host_api from calls of CUDA or HIP. `calls` and `strings` are the names of CTEs of raw.runtime_call, with
-- launch_id, and of trace.string; so in the next two.
CREATE MACRO IF NOT EXISTS host_calls_of_gpu(calls, strings) AS TABLE
    WITH role_of_name AS (
        SELECT text_id AS name, role_of_cuda_call(text) AS role
        FROM query_table(strings)
        WHERE role_of_cuda_call(text) IS NOT NULL
    )
    SELECT
        event_id AS host_api_id,
        'runtime'::ENUM('acl', 'model', 'node', 'communication', 'runtime') AS level,
        name AS name_id,
        thread_id(pid, tid) AS tid,
        start_ns,
        end_ns,
        end_ns - start_ns AS duration_ns,
        role_of_name.role::ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile') AS role,
        launch_id
    FROM query_table(calls)
    LEFT JOIN role_of_name USING (name)
    WHERE is_host_time(start_ns, end_ns);

-- The same of trace.launch.
CREATE MACRO IF NOT EXISTS launches_of_gpu(calls, strings) AS TABLE
    SELECT
        launch_id,
        thread_id(pid, tid) AS tid,
        start_ns,
        end_ns,
        name AS name_id,
        coalesce(name IN (SELECT text_id FROM query_table(strings) WHERE contains(text, 'GraphLaunch')), false) AS is_replay
    FROM query_table(calls)
    WHERE launch_id IS NOT NULL AND is_host_time(start_ns, end_ns);

-- The same of trace.stream_wait. `work` and `families` are the names of CTEs of raw.device_work and trace.kernel_family.
CREATE MACRO IF NOT EXISTS stream_waits_of_gpu(calls, work, families, strings) AS TABLE
    SELECT NULL::BIGINT AS stream_id, thread_id(pid, tid) AS tid, start_ns, end_ns
    FROM query_table(calls)
    WHERE name IN (SELECT text_id FROM query_table(strings) WHERE orders_stream_to_wait(text))
        AND is_host_time(start_ns, end_ns)
    UNION ALL
    SELECT stream_id, NULL, start_ns, end_ns
    FROM query_table(work)
    WHERE is_kernel
        AND name IN (SELECT name_id FROM query_table(families) WHERE kind = 'wait')
        AND is_device_time(start_ns, end_ns);
