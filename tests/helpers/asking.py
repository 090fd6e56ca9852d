"""How tests ask a profile, and what they compare of its tables."""

from typing import Any

from prof_analysis import Profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.pictures.figures.plots import TABLES

# Columns of the API that ModuleStatistic of msprof-analyze has, and their names there, in its order.
PEER_COLUMNS = {
    "parent_module": "parentModule",
    "module": "module",
    "op_name": "opName",
    "kernel_list": "kernelList",
    "total_kernel_duration_ns": "totalKernelDuration(ns)",
    "avg_kernel_duration_ns": "avgKernelDuration(ns)",
    "op_count": "opCount",
    "rank_id": "rankID",
}
# Numbers of rows, which each source gives in its own way.
IDS = {"kernel_id", "pmu_id", "op_id", "interval_id", "path_id", "queue_id", "range_id", "forward_op_id", "backward_op_id",
       "block_id", "usage_id"}  # fmt: skip


def build_at_once(profile: Profile, *names: str) -> None:
    """Build tables, and those of commands, in one go, which reads each rank once, before they are asked for one by one."""
    tables = dict.fromkeys(table for name in names for table in (ANALYSES[name].tables if name in ANALYSES else (name,)))
    profile.rows(f"SELECT 1 FROM {', '.join(tables)} LIMIT 0")


def build_levels(profile: Profile, name: str, *others: str) -> None:
    """Build what all levels (`by`), files and pictures of a command read in one go, with other tables or commands."""
    analysis = ANALYSES[name]
    tables = [table for rows in analysis.rows.values() for table in (rows.table, rows.over_ranks) if table]
    of_pictures = [table for picture in analysis.pictures.values() for table in (*picture.exports, *picture.also)]
    of_plots = [table for command, also in TABLES.values() if command == name for table in also]
    build_at_once(profile, *dict.fromkeys((*analysis.tables, *tables, *of_pictures, *of_plots)), *others)


def found_by(profile: Profile, *rules: str) -> list[dict[str, Any]]:
    """Return what rules find on each rank. Only they are built: `advice.finding` builds all rules and what they read."""
    build_at_once(profile, *(f"advice.{rule}" for rule in rules))
    return [{"rule": rule, **row} for rule in rules for row in profile.rows(f"FROM advice.{rule}")]
