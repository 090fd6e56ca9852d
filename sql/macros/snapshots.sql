-- A frame of a memory snapshot as one text: file, line and function; of native code, whose files are often unknown, the
-- function.
CREATE MACRO IF NOT EXISTS frame_of_snapshot(name, filename, line) AS
    CASE
        WHEN is_python_file(filename) THEN filename || '(' || coalesce(line, 0) || '): ' || coalesce(name, '')
        ELSE coalesce(name, filename)
    END;

-- Whether a file holds Python: also code that a program made, such as <string> and <eval_with_key>.7.
CREATE MACRO IF NOT EXISTS is_python_file(filename) AS coalesce(regexp_matches(filename, '\.pyw?$|^<'), false);

-- The op that a frame of native code calls: at::_ops::add__Tensor::call is aten::add_. Overloads have a word with a capital.
CREATE MACRO IF NOT EXISTS op_of_native_frame(name) AS
    'aten::'
    || nullif(regexp_replace(regexp_extract(name, '^at::_ops::(\w+)::(?:call|redispatch)\b', 1), '_[A-Z]\w*$', ''), '');

-- The node of autograd that a frame of native code runs.
CREATE MACRO IF NOT EXISTS autograd_node_of_native_frame(name) AS
    nullif(regexp_extract(name, '^torch::autograd::(?:generated::)?(\w+)::apply\(', 1), '');

-- Whether a frame of native code belongs to the recording of the stack, to the allocator, or to the start of Python: these are
-- in all stacks and say nothing of a block.
CREATE MACRO IF NOT EXISTS is_frame_of_allocator(name) AS
    coalesce(
        regexp_matches(
            name,
            'unwind::unwind|CapturedTraceback::gather|gather_with_cpp|CachingAllocator|^_start$|__libc_(start|init)'
            || '|^Py_|^_?Py[A-Z]'
            || '|^py(main|run)_|^run_(mod|eval_code_obj)|^cfunction_|^_?method_|^slot_tp_|^_?object_|^(clone|start_thread)$'
            || '|execute_native_thread_routine|pthread_|^__xmknod'
        ),
        false
    );

-- The size of a block of which only the request is known: allocators of PyTorch hand out multiples of 512 bytes.
CREATE MACRO IF NOT EXISTS rounded_size(requested_bytes) AS greatest(requested_bytes + 511, 512) // 512 * 512;

-- Whether a row is of the device that the rank is.
CREATE MACRO IF NOT EXISTS is_on_device(device) AS
    getvariable('device_id') IS NULL OR coalesce(device, getvariable('first_device_id'), 0) = getvariable('device_id');
