"""The questions about profiles: one method each, which returns the rows of a documented table."""

from prof_analysis.profile.questions.causes import Causes
from prof_analysis.profile.questions.costs import Costs


class Questions(Costs, Causes):
    """Each question about profiles as a method. With arrow=True it returns a pyarrow.Table in place of a pandas.DataFrame."""
