-- The frames of a stack that is one text: its frames are separated by semicolons, and in some profiles by line breaks too.
CREATE MACRO IF NOT EXISTS frames_of_stack(stack) AS
    list_transform(string_split(stack, ';'), lambda frame: trim(frame, E' \r\n\t'));

-- A frame without the address of the object in it, which differs from call to call.
CREATE MACRO IF NOT EXISTS frame_without_address(frame) AS regexp_replace(frame, '( object)? at 0x[0-9a-fA-F]+', '');

-- Whether a frame is code of PyTorch or of Python itself. Tracers leave out the folder of Python's own modules, so those that
-- begin most stacks are known by name.
CREATE MACRO IF NOT EXISTS is_frame_of_framework(frame) AS
    regexp_matches(frame, '^<|(^|[/\\])torch(_npu)?[/\\]|^(multiprocessing|concurrent|asyncio|importlib)[/\\]')
    OR regexp_matches(frame, '^(threading|runpy|contextlib|functools)\.py\(')
    OR (
        regexp_matches(frame, '[/\\]lib[/\\]python\d[\d.]*[/\\]')
        AND NOT regexp_matches(frame, '[/\\](site|dist)-packages[/\\]')
    );
