"""The short form of `python -m benchmarks.trials`: no damage leads to other figures without a word."""

from pathlib import Path

import pytest

from benchmarks.trials.ask import Said
from benchmarks.trials.cases import Pair, ask_untouched, chosen, judge_untouched, short, try_damage
from benchmarks.trials.judge import Outcome
from benchmarks.trials.profiles import Subject, subjects

LIMIT_S = 120


@pytest.fixture(scope="module")
def healthy() -> dict[str, dict[str, Said]]:
    """What untouched profiles answer, which many cases compare with."""
    return {}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where generated profiles are written."""
    return tmp_path_factory.mktemp("made")


def cases() -> list[Pair]:
    """The cases of the short form; the profiles that they name are written when they are asked."""
    return short(chosen(subjects(Path("made")), ["*"], ["*"]))


def in_folder(subject: Subject, made: Path) -> Subject:
    """The same profile, written below this folder if it is generated."""
    return subject if subject.make is None else next(one for one in subjects(made) if one.name == subject.name)


def test_the_short_form_has_sixty_cases() -> None:
    assert len([one for _, one in cases() if one is not None]) == 60


@pytest.mark.slow
@pytest.mark.parametrize("pair", cases(), ids=lambda pair: f"{pair[0].name}-{pair[1].name if pair[1] else 'untouched'}")
def test_no_damage_changes_figures_without_a_word(
    pair: Pair, made: Path, tmp_path: Path, healthy: dict[str, dict[str, Said]]
) -> None:
    subject, damage = in_folder(pair[0], made), pair[1]
    if subject.name not in healthy:
        healthy[subject.name] = ask_untouched(subject, tmp_path / "case", LIMIT_S)
    if damage is None:
        case = judge_untouched(subject, healthy[subject.name])
        assert case.outcome is Outcome.RIGHT, case.words
    else:
        found = try_damage(subject, damage, healthy[subject.name], tmp_path / "case", LIMIT_S)
        assert found is not None, "the damage found nothing to damage, so the case shows nothing"
        assert not found.outcome.is_bad, found
