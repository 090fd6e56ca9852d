"""The roles that sources give to what CANN, HCCL and torch_npu name."""

import pytest

from tests.helpers.empty_database import empty_database

ROLES: dict[str, dict[str, str | None]] = {
    "role_of_host_call(name)": {
        "aclrtSynchronizeStreamWithTimeout": "synchronise",
        "aclrtSynchronizeDevice": "synchronise",
        "StreamSynchronize": "synchronise",
        "aclrtMemcpyAsync": "copy",
        "MemCopyAsync": "copy",
        "aclrtMalloc": "allocate",
        "aclrtFree": "allocate",
        "DevFree": "allocate",
        "opCompile": "compile",
        "aclopCompileAndExecute": "compile",
        "launch": "launch",
        "Launch_Ffts": "launch",
        "KernelLaunchWithHandleV2": "launch",
        "aclnnInplaceCopy": None,
        "aclrtStreamWaitEvent": None,
        "hcom_allReduce_": None,
    },
    "role_of_communication_task(name)": {
        "Memcpy": "transfer",
        "Reduce_Inline": "transfer",
        "Reduce Inline": "transfer",
        "Notify_Wait": "wait",
        "Notify Wait": "wait",
        "Notify_Record": "other",
        "RDMASend": "other",
    },
    "direction_of_communication(name)": {
        "hcom_send__868_0_1": "send",
        "hcom_receive__868_0_1": "receive",
        "hcom_batchSendRecv__868_0_1": "both",
        "hcom_allReduce__868_0_1": None,
        "my_hcom_send": None,
    },
    "operation_of_communication(name)": {
        "hcom_allReduce_": "allreduce",
        "hcom_batchSendRecv_": "batchsendrecv",
        "AllGather": "allgather",
    },
    "name_without_group(name)": {
        "hcom_allReduce__868_0_1@10.0.0.1%enp_0": "hcom_allReduce__868_0_1",
        "hcom_allReduce__868_0_1": "hcom_allReduce__868_0_1",
    },
    "engine_of_cores(name)": {
        "AI_CORE": "matrix",
        "MIX_AIC": "matrix and vector",
        "MIX_AIV": "vector",
        "AI_VECTOR_CORE": "vector",
        "AI_CPU": "cpu",
        "COMMUNICATION": None,
    },
    "role_of_mark(name, 'default')": {
        "dataloader": "data loading",
        "save_checkpoint": "checkpoint",
        "ProfilerStep#7": "step",
        '{"count": "4","opName": "HcclAllreduce"}': "communication",
        "step 7": None,
    },
    "role_of_mark(name, 'mfu_flops')": {"1024-matmul": "flops", "dataloader": "flops"},
    "role_of_mark(name, 'flash_attn_args')": {'{"op": "flash_attention"}': "attention"},
    "role_of_mark(name, NULL)": {"dataloader": "data loading", "ProfilerStepX": None},
}


@pytest.mark.parametrize("rule", ROLES)
def test_names_have_their_roles(rule: str) -> None:
    names = list(ROLES[rule])
    with empty_database() as connection:
        found = connection.execute(f"SELECT name, {rule} FROM unnest($names) AS named (name)", {"names": names}).fetchall()
        unknown = connection.execute(f"SELECT {rule} FROM (SELECT NULL::VARCHAR AS name)").fetchone()
    assert dict(found) == ROLES[rule]
    assert unknown == ({"mfu_flops": "flops", "flash_attn_args": "attention"}.get(rule.partition("'")[2][:-2]),)
