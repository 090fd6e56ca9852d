WITH kernel AS (FROM trace.kernel),
string AS (FROM trace.string)
FROM grouped_matmuls(kernel, string)
