"""grouped_matmuls(): kernels and texts in, the kernels whose type says that they multiply groups of rows out."""

from prof_analysis.engine.macros import create_macros
from tests.helpers.empty_database import empty_database


def test_grouped_matmuls_are_compute_kernels_of_such_a_type() -> None:
    query = """
        WITH kernel AS (
            SELECT col0 AS kernel_id, col1 AS type_id, col2 AS kind
            FROM (VALUES (1, 10, 'compute'), (2, 11, 'compute'), (3, 12, 'compute'), (4, 10, 'schedule'), (5, NULL, 'compute'))
        ),
        string AS (
            SELECT col0 AS text_id, col1 AS text
            FROM (VALUES (10, 'GroupedMatmul'), (11, 'MatMulV2'), (12, 'Quant_Grouped_Matmul_Dequant'))
        )
        SELECT kernel_id FROM grouped_matmuls(kernel, string) ORDER BY kernel_id
    """
    with empty_database() as connection:
        create_macros(connection, query)
        assert connection.execute(query).fetchall() == [(1,), (3,)]
