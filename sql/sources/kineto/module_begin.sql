WITH module_call AS (FROM raw.module_call),
module_entry AS (FROM raw.module_entry),
string AS (FROM trace.string)
FROM begins_of_modules(module_call, module_entry, string)
