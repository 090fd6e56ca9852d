-- Number of a text of a source that does not number its texts: a hash of 63 bits.
CREATE MACRO IF NOT EXISTS text_id(text) AS if(text IS NULL, NULL, (hash(text, getvariable('text_salt')) >> 1)::BIGINT);

-- One number of a process and a thread in it; NULL when that is no BIGINT.
CREATE MACRO IF NOT EXISTS thread_id(pid, tid) AS TRY(pid * 4294967296 + tid);

-- Key of a module in a path, out of the key of its parent: a hash of 128 bits.
CREATE MACRO IF NOT EXISTS path_key(parent_key, name_id, number) AS
    (hash((parent_key >> 64)::UBIGINT, name_id, number)::UHUGEINT << 64)
    + hash((parent_key & 18446744073709551615)::UBIGINT, number, name_id);
