WITH cpu_op AS (FROM raw.cpu_op),
string AS (FROM trace.string)
FROM ops_of_events(cpu_op, string)
