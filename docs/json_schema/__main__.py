"""Print the schema of the output of --json."""

import sys

from docs.json_schema import text_of_file

sys.stdout.write(text_of_file())
