"""The type of operators that only their names tell."""

from tests.helpers.empty_database import empty_database

TYPES = {
    "hcom_allReduce__868_0_1": "hcom_allReduce_",
    "hcom_allReduce__868_0_1@7320894868": "hcom_allReduce_",
    "hcom_allGather__483_11": "hcom_allGather_",  # 2023
    "hcom_send__7": "hcom_send_",
    "hcom_batchSendRecv__128_3_1@a@b": "hcom_batchSendRecv_",
    "hcom_allReduce_AicpuKernel__2_3_4": "hcom_allReduce_AicpuKernel_",
    "hcom_allReduce_": None,
    "hcom_allReduce__868_0_1_x": None,
    "allreduceAicpuKernel": None,
    "__1_2_3": None,
    "": None,
    None: None,
}


def test_the_type_is_what_the_numbers_in_the_name_follow() -> None:
    with empty_database(threads=1) as connection:
        found = {
            name: connection.execute("SELECT type_of_communication($name)", {"name": name}).fetchall()[0][0] for name in TYPES
        }
    assert found == TYPES
