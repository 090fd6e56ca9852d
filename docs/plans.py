"""Make what the wheel knows of the SQL, so that a first start plans nothing: `prof_analysis/plans.json` (docs/wheel.py).

It has the plans of all questions about databases. Other profiles and users' own tables are planned when they are first asked.
"""

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine import remembered
from prof_analysis.engine.planning import make_plan, split_across_ranks, variables_of
from prof_analysis.sources import ascend_db


def text_of_file() -> str:
    """Return the text of the file in the wheel."""
    for analysis in ANALYSES.values():
        tables = [table for rows in analysis.rows.values() for table in (rows.table, rows.over_ranks) if table]
        for wanted in (analysis.tables, (*analysis.tables, *analysis.of_several_ranks), *((table,) for table in tables)):
            for has_several_ranks in (True, False):
                of_ranks, _ = split_across_ranks(wanted, has_several_ranks=has_several_ranks)
                make_plan(ascend_db.NAME, ascend_db.RAW_COLUMNS, of_ranks, is_for_others=True)
        for table in (*analysis.exports, *analysis.of_several_ranks):
            for has_several_ranks in (True, False):
                variables_of(table, {ascend_db.NAME}, has_several_ranks=has_several_ranks)
    return remembered.as_text()
