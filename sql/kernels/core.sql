-- One row is a device and an engine of its compute kernels, with the number of cores that the device has for it.
--
-- device_id   BIGINT  device; NULL when not recorded
-- engine      ENUM('matrix', 'vector', 'matrix and vector', 'copy', 'cpu')  as in trace.kernel; NULL for kernels whose engine
--                                                                           is not known, on a device with one kind of core
-- core_count  BIGINT  cores; for kernels on both kinds, those that multiply matrices
--
-- Where the number of vector cores is not recorded, it is twice that of the cores that multiply matrices, if some kernel on
-- vector cores had exactly so many blocks; else it is not known. An engine whose cores are not known has no row.
WITH used_engine AS (
    SELECT device_id, engine, list(DISTINCT block_num) AS block_nums
    FROM trace.kernel
    WHERE kind = 'compute' AND coalesce(engine NOT IN ('cpu', 'copy'), true)
    GROUP BY device_id, engine
),
-- Where there is only one device, kernels and chip mean the same one, even if they name it differently.
only_chip AS (
    SELECT min(core_count) AS core_count, min(vector_core_count) AS vector_core_count
    FROM trace.chip
    HAVING count(*) = 1 AND (SELECT count(DISTINCT coalesce(device_id, -1)) FROM used_engine) = 1
),
split_core AS (
    SELECT count(*) > 0 AS has_rows
    FROM used_engine
    WHERE engine IN ('vector', 'matrix and vector')
),
engine_cores AS (
    SELECT
        used_engine.device_id,
        used_engine.engine,
        used_engine.block_nums,
        coalesce(chip.core_count, only_chip.core_count) AS recorded_count,
        -- A trace may claim any number.
        if(recorded_count BETWEEN 1 AND 1000000, recorded_count, NULL) AS matrix_core_count,
        coalesce(chip.vector_core_count, only_chip.vector_core_count) AS vector_core_count
    FROM used_engine
    LEFT JOIN trace.chip ON chip.device_id = used_engine.device_id
    LEFT JOIN only_chip ON true
),
with_cores AS (
    SELECT
        engine_cores.device_id,
        engine_cores.engine,
        CASE
            WHEN engine_cores.engine IN ('matrix', 'matrix and vector') THEN engine_cores.matrix_core_count
            WHEN engine_cores.engine = 'vector' THEN coalesce(
                engine_cores.vector_core_count,
                if(
                    list_contains(engine_cores.block_nums, 2 * engine_cores.matrix_core_count),
                    2 * engine_cores.matrix_core_count,
                    NULL
                )
            )
            WHEN NOT split_core.has_rows THEN engine_cores.matrix_core_count
        END AS core_count
    FROM engine_cores
    CROSS JOIN split_core
)
FROM with_cores
WHERE core_count IS NOT NULL
