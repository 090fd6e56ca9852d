"""Write prof_analysis/json.schema.json."""

from docs.json_schema import FILE, text_of_file

FILE.write_text(text_of_file(), encoding="utf-8")
