-- Id of a text in a source that has no ids for its texts: a hash of 63 bits.
CREATE MACRO IF NOT EXISTS text_id(text) AS if(text IS NULL, NULL, (hash(text, getvariable('text_salt')) >> 1)::BIGINT);

-- One number for a process and a thread in it; NULL when it does not fit into BIGINT.
CREATE MACRO IF NOT EXISTS thread_id(pid, tid) AS TRY(pid * 4294967296 + tid);

-- Key of a path, made from the key of the parent's path: a hash of 128 bits. An outermost name has the parent 1, since the hash
-- of zeros is 0.
CREATE MACRO IF NOT EXISTS path_key(parent_key, name_id, number) AS
    (hash((parent_key >> 64)::UBIGINT, name_id, number)::UHUGEINT << 64)
    + hash((parent_key & 18446744073709551615)::UBIGINT, number, name_id);

-- A number that puts pairs of BIGINT in the order (first, second): arg_min() by it takes half the time of one by a row.
CREATE MACRO IF NOT EXISTS pair_key(first, second) AS first * 18446744073709551616::HUGEINT + second;

-- Key of the frames of a stack, of rows that are each a frame and its depth: 128 bits, whatever their order. The hash of zeros
-- is 0.
CREATE MACRO IF NOT EXISTS chain_key(frame_id, depth) AS
    (bit_xor(hash(frame_id, depth, 1))::UHUGEINT << 64) + bit_xor(hash(depth, frame_id, 1));

-- The number of an event that begins and ends with another one: `place` says which is the outer one, and the place in the file
-- decides only where that is unknown, so that the order of events in a file does not matter. Both are less than 2^31.
CREATE MACRO IF NOT EXISTS ordered_id(place, event_id) AS
    if(place BETWEEN 0 AND 2147483646, place + 1, 0)::BIGINT * 4294967296 + event_id;

-- The layers of CANN from the outermost inwards.
CREATE MACRO IF NOT EXISTS place_of_layer(level) AS
    list_position(['acl', 'model', 'node', 'communication', 'runtime'], level::VARCHAR);
