"""Puts a file into the wheel while it is built: json.schema.json, the schema of the output of --json."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SchemaHook(BuildHookInterface[BuilderConfig]):
    """Makes the schema from the heads of the SQL files while hatchling builds a wheel.

    An editable install has none: there it would be that of the day of the installation. `python -m docs.json_schema` prints
    today's.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the schema, and name its place in the wheel."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from docs.json_schema import text_of_file

        self.folder = TemporaryDirectory()
        file = Path(self.folder.name, "json.schema.json")
        file.write_text(text_of_file(), encoding="utf-8")
        build_data["force_include"][str(file)] = "prof_analysis/json.schema.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the file made for the wheel."""
        if version != "editable":
            self.folder.cleanup()
