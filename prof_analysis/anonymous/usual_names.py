"""Names that many have: they say nothing of who made a profile, so --anonymize leaves them as they are."""

import re

# What profilers and this package call files and folders: such names say nothing of who made them.
USUAL_NAME = re.compile(
    r"ASCEND_PROFILER_OUTPUT|FRAMEWORK|PROF_\d+_\d+_[A-Z]+|(device|host)(_\d+)?|sqlite|cluster_analysis_output|mindstudio_\w+|"
    r"(trace_view|communication|communication_matrix|profiler_metadata|profiler_info(_\d+)?)\.json(\.gz)?|info\.json(\.\d+)?|"
    r"(kernel_details|memory_record|npu_module_mem|op_statistic|operator_details|operator_memory|step_trace_time|api_statistic|"
    r"l2_cache|data_preprocess|static_op_mem|dataset)\.csv|minddata_pipeline_(raw|summary)_\d+\.(csv|json)|"
    r"(msprof|op_summary|op_statistic|api_statistic|static_op_mem)(_\d+)*(_slice_\d+)?(_\d+)+\.(json|csv)|"
    r"(ascend_(pytorch|mindspore)_profiler|msprof|analysis|communication_analyzer|cluster_analysis)(_\d+)*\.db"
)
# The folder that the profiler makes for a rank, and the file that it makes on GPUs: both begin with the host and the process.
OF_HOST = re.compile(r"(?P<host>.+?)_(?P<pid>\d+)(_\d{14,}_ascend_\w+|\.(\d+\.)?pt\.trace\.json(\.gz)?)")
USUAL_FUNCTION = re.compile(r"<\w+>|__\w+__|forward|backward|main|run|step|train|wrapper|inner")
# Names that many machines share, and words of the tables: to replace them would hide nothing.
COMMON = frozenset({
    "root", "admin", "user", "users", "home", "ubuntu", "ma-user", "HwHiAiUser", "ascend", "npu", "gpu", "localhost",
    "node", "host", "docker", "data", "work", "test", "tmp", "model", "module", "op", "kernel", "step", "rank", "train",
    "torch", "python", "python3", "default", "base", "new", "www", "api", "docs", "git", "http", "https", "master",
    "worker", "head", "leader", "server", "client", "scheduler", "main", "mail", "info", "support", "noreply", "proxy",
    "registry", "mirror", "store", "cache", "attention", "linear", "forward", "backward", "profile", "profiler",
    "mirrors", "image", "images", "cluster",
})  # fmt: skip
# Words of which frameworks make the names of groups of ranks, such as dp, tensor_model_parallel and default_group.
_WORDS_OF_GROUPS = frozenset({
    "a", "all", "amax", "and", "attention", "attn", "batch", "comm", "communicator", "context", "cp", "cpu", "data",
    "dcp", "ddp", "default", "dense", "device", "devices", "dist", "distributed", "double", "dp", "edp", "embedding",
    "ep", "eplb", "etp", "eval", "exp", "expert", "experts", "fake", "ffn", "first", "fsdp", "full", "fused", "gather",
    "global", "gloo", "gpu", "grad", "gradient", "grads", "group", "groups", "hccl", "head", "hierarchical", "hsdp", "id",
    "instance", "inter", "intra", "last", "layer", "layers", "lm", "local", "loss", "main", "mc", "mesh", "mlp", "model",
    "moe", "mp", "mpi", "n", "na", "name", "nccl", "new", "next", "node", "nodes", "npu", "of", "only", "optim",
    "optimizer", "pair", "parallel", "part", "partial", "pcp", "pg", "pipeline", "position", "pp", "prev", "process",
    "rank", "ranks", "receive", "recv", "reduce", "replica", "replicate", "ring", "scatter", "self", "send", "sequence",
    "shard", "sharded", "shards", "shared", "size", "sp", "split", "stage", "stages", "stream", "sub", "tensor", "test",
    "to", "token", "tp", "train", "ucc", "ulysses", "undefined", "unknown", "with", "without", "word", "world", "x",
    "xccl", "zero",
})  # fmt: skip
# What stands in place of a file where code comes from no file: Python itself, and what it makes of texts.
USUAL_FILE = re.compile(
    r"<(?:string|stdin|console|input|unknown|frozen [\w.]+|__array_function__ internals|eval_with_key|decorator-gen-\d+|"
    r"ipython-input-\d+-[\da-f]+|attrs generated [\w ]+|lambdifygenerated-\d+)>(?:\.\d+)?"
)
# Sites that many use, whose names are words that mean something else, such as pytorch: they are nobody's own host.
PUBLIC_SITE = re.compile(
    r"(?:(?:www|api|docs?|raw|cdn|files|download|download-r2|developer|hub|registry|pkg|index)\.)?"
    r"(?:github|githubusercontent|gitlab|gitee|pytorch|python|huggingface|modelscope|hiascend|huawei|nvidia|openai|google|"
    r"microsoft|wikipedia|stackoverflow|readthedocs|arxiv|pypi|docker|quay|apache|onnx|tensorflow|wandb|plotly|perfetto)"
    r"\.(?:com|org|io|co|cn|ai|net|dev|site)"
)


def is_usual_group(name: str) -> bool:
    """Return whether the name of a group of ranks is made of usual words and of numbers alone."""
    return all(word in _WORDS_OF_GROUPS for word in re.findall(r"[^\W\d_]+", name.lower()))
