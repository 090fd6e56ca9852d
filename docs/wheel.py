"""Puts two files into the wheel while it is built: the schema of the output of --json, and the plans of the SQL."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# As VARIABLE of prof_analysis.common.user_cache, which can be imported only when the folder is known.
_CACHE = "PROF_ANALYSIS_CACHE"


class MadeFilesHook(BuildHookInterface[BuilderConfig]):
    """Makes json.schema.json and plans.json from the SQL files while hatchling builds a wheel.

    An editable install has none: there they would be those of the day of the installation. `python -m docs.json_schema` prints
    today's schema.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files, and name their places in the wheel."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # A build keeps nothing in the cache of the user, and lacks the library that finds its folder.
        os.environ[_CACHE] = "off"
        from docs import json_schema, plans

        self.folder = TemporaryDirectory()
        for name, text_of_file in (("json.schema.json", json_schema.text_of_file), ("plans.json", plans.text_of_file)):
            file = Path(self.folder.name, name)
            file.write_text(text_of_file(), encoding="utf-8")
            build_data["force_include"][str(file)] = f"prof_analysis/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the files made for the wheel."""
        if version != "editable":
            self.folder.cleanup()
