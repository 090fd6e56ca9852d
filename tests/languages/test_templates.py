# ruff: noqa: RUF001 (the signs of Chinese look like those of English)
"""A sentence is found by its form, and said again in the form of another language."""

import pytest

from prof_analysis.languages.templates import filled, form_of, parts_of


def words_of(template: str, sentence: str, is_narrow: bool = True) -> dict[str, str] | None:
    found = form_of(parts_of(template)).words_of(sentence, is_narrow)
    return None if found is None else dict(found)


def again(template: str, other: str, sentence: str) -> str:
    found = words_of(template, sentence)
    assert found is not None
    return filled(other, found, str, " 或 ")


@pytest.mark.parametrize(
    ("template", "other", "sentence", "expected"),
    [
        ("{0} of {1} wait", "{1} 中的 {0} 在等待", "3 us of 5 us wait", "5 us 中的 3 us 在等待"),
        ("{n|1 kernel|kernels} {n?waits|wait}", "{n|1 个 kernel|个 kernel}在等待", "5 kernels wait", "5 个 kernel在等待"),
        ("{n|1 kernel|kernels} {n?waits|wait}", "{n|1 个 kernel|个 kernel}在等待", "1 kernel waits", "1 个 kernel在等待"),
        (
            "each call takes {time}[, with {type}]",
            "每次用时 {time}[，类型为 {type}]",
            "each call takes 3 us, with mm",
            "每次用时 3 us，类型为 mm",
        ),
        ("each call takes {time}[, with {type}]", "每次用时 {time}[，类型为 {type}]", "each call takes 3 us", "每次用时 3 us"),
        ("of {is_exact?|at least }{n} ranks", "{is_exact?|至少 }{n} 个 rank 中", "of at least 8 ranks", "至少 8 个 rank 中"),
        ("of {is_exact?|at least }{n} ranks", "{is_exact?|至少 }{n} 个 rank 中", "of 8 ranks", "8 个 rank 中"),
        ("use <<aclnn||cuda>> here", "此处用 <<aclnn||cuda>>", "use cuda here", "此处用 cuda"),
        ("use <<aclnn||cuda>> here", "此处用 <<aclnn||cuda>>", "use aclnn or cuda here", "此处用 aclnn 或 cuda"),
        ("slow<<||, as on a GPU>>", "慢<<||，如 GPU>>", "slow", "慢"),
        ("a [[b]] {{c}} {0}", "[[b]] {{c}} {0}", "a [b] {c} d", "[b] {c} d"),
        ("won{won_of(is_partly, win_ns)}", "收益{won_of(is_partly, win_ns)}", "won; all of it", "收益; all of it"),
    ],
)
def test_what_fills_the_gaps_is_put_into_the_other_form(template: str, other: str, sentence: str, expected: str) -> None:
    if "won_of" in template:
        assert words_of(template, sentence) is None  # A clause of its own is no word.
        found = words_of(template, sentence, is_narrow=False)
        assert found is not None and filled(other, found, str, " 或 ") == expected
    else:
        assert again(template, other, sentence) == expected


def test_a_sentence_of_another_form_is_not_found() -> None:
    assert words_of("{0} of {1} wait", "3 us of 5 us waits") is None


def test_a_gap_does_not_reach_over_the_end_of_a_clause() -> None:
    assert words_of("the ranks wait for {0}", "the ranks wait for 3; the others too") is None


def test_a_form_that_says_little_holds_few_words() -> None:
    assert words_of("{0} of {1}", "3 of 5 ranks") == {"0": "3", "1": "5 ranks"}
    assert words_of("{0} of {1}", "the time that is lost because of one rank of the group") is None
