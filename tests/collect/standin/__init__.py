"""Stand-ins for torch and torch_npu, which a test puts on the path."""
