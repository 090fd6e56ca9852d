-- One row is a kind of records of memory that the profile has: over time, or as it was planned for compiled graphs.
--
-- kind  ENUM('usage', 'static')  which kind
WITH known_kind AS (
    SELECT 'usage' AS kind, EXISTS (FROM trace.memory_usage) AS is_there
    UNION ALL
    SELECT 'static', EXISTS (FROM trace.static_memory)
)
SELECT kind::ENUM('usage', 'static') AS kind
FROM known_kind
WHERE is_there
