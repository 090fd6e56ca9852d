"""cluster_analysis.db, which msprof-analyze and this package both write: where it lies, and which tables in it are ours."""

# The folder that exports make; the second one where secrets are replaced, so that nothing else is beside them.
OUTPUT_FOLDER, ANONYMOUS_OUTPUT_FOLDER = "cluster_analysis_output", "cluster_analysis_output_anonymous"
FILE_NAME = "cluster_analysis.db"
# A comment in the definition of a table: what another program made again has none, even where it had our name.
MARK = "/* written by prof-analysis */"
