"""Noise of a comparison: Student's t, Welch's test, and the limit of Benjamini and Hochberg over the rows of a table."""

import random
from statistics import mean, variance

import pytest

from prof_analysis.engine.functions import functions_for
from prof_analysis.functions.student import p_value, quantile
from tests.helpers.empty_database import empty_database


@pytest.mark.parametrize(
    ("freedom", "published"),
    # The columns 0.05 of the published tables of the two-sided t distribution.
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (10, 2.228),
        (20, 2.086),
        (30, 2.042),
        (60, 2.000),
        (120, 1.980),
    ],
)
def test_quantiles_are_the_published_ones(freedom: int, published: float) -> None:
    assert round(quantile(freedom), 3) == published


@pytest.mark.parametrize(
    ("t", "freedom", "published"),
    [
        (6.314, 1, 0.10), (63.657, 1, 0.01), (9.925, 2, 0.01), (5.841, 3, 0.01), (4.604, 4, 0.01), (3.169, 10, 0.01),
        (4.587, 10, 0.001), (1.812, 10, 0.10), (0.700, 10, 0.50), (2.617, 120, 0.01), (1.289, 120, 0.20), (2.576, 1e7, 0.01),
    ],
)  # fmt: skip
def test_probabilities_are_the_published_ones(t: float, freedom: float, published: float) -> None:
    assert p_value(t, freedom) == pytest.approx(published, rel=2e-3)
    assert p_value(-t, freedom) == p_value(t, freedom)


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 2.5, 7.7, 40, 333.3, 10_000])
def test_probabilities_of_quantiles_are_five_percent(freedom: float) -> None:
    assert p_value(quantile(freedom), freedom) == pytest.approx(0.05, rel=1e-10)


def test_probabilities_far_out_and_in_the_middle() -> None:
    assert p_value(0, 5) == 1
    assert p_value(float("inf"), 5) == 0
    assert p_value(1e-9, 5) == pytest.approx(1)
    assert p_value(1, 1) == pytest.approx(0.5), "of one degree of freedom it is Cauchy's distribution"
    assert 0 < p_value(1e6, 30) < 1e-100


def asked(expression: str, *samples: list[int]) -> list[float | None]:
    sums = [value for sample in samples for value in (sum(sample), sum(one * one for one in sample), len(sample))]
    query = f"SELECT {expression.replace('SUMS', ', '.join(map(str, sums)))}"
    with empty_database() as connection, functions_for(connection, query):
        (row,) = connection.execute(query).fetchall()
        return list(row)


def test_welch_is_what_statisticians_publish() -> None:
    # The second example of Wikipedia's article on Welch's t-test: t = -1.57, 9.9 degrees of freedom, p = 0.149.
    base = [17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8]
    new = [
        21.5,
        22.8,
        21.0,
        23.0,
        21.6,
        23.6,
        22.5,
        20.7,
        23.4,
        21.8,
        20.7,
        21.7,
        21.5,
        22.5,
        23.6,
        21.5,
        22.5,
        23.5,
        21.5,
        21.8,
    ]
    tenths = [[round(10 * one) for one in sample] for sample in (base, new)]
    (p, margin, freedom) = asked("welch_p(SUMS), welch_margin(SUMS), welch_freedom(SUMS)", *tenths)
    assert p is not None and margin is not None and freedom is not None
    t = (mean(new) - mean(base)) / (variance(base) / 10 + variance(new) / 20) ** 0.5
    assert freedom == pytest.approx(9.9, abs=0.1)
    assert p == pytest.approx(0.149, abs=0.0005)
    assert p == pytest.approx(p_value(t, freedom), rel=1e-12)
    assert margin / 10 == pytest.approx(quantile(freedom) * (variance(base) / 10 + variance(new) / 20) ** 0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        pytest.param([5, 5], [5, 5, 5], [1.0, 0.0, 0.0, 0.0], id="nothing varies, nothing changed"),
        pytest.param([5, 5], [6, 6, 6], [0.0, 0.0, 0.0, 0.0], id="nothing varies, so any change is one"),
        pytest.param([5], [6, 7], [None, None, None, 0.5**0.5], id="one value says nothing of noise"),
        pytest.param([], [6, 8], [None, None, None, 2**0.5], id="no value"),
    ],
)
def test_samples_without_variance_or_values(base: list[int], new: list[int], expected: list[float | None]) -> None:
    of_base = ", ".join(map(str, (sum(base), sum(one * one for one in base), len(base))))
    of_new = ", ".join(map(str, (sum(new), sum(one * one for one in new), len(new))))
    found = asked(f"welch_p(SUMS), welch_margin(SUMS), sample_sd({of_base}), sample_sd({of_new})", base, new)
    assert found == [None if one is None else pytest.approx(one) for one in expected]


def test_times_of_long_steps_lose_no_digit() -> None:
    """Squares of ns have more digits than a float: two runs that differ by 1 ns in 100 s differ here, too."""
    base, new = [10**11, 10**11 + 1, 10**11 + 2], [10**11 + 1, 10**11 + 2, 10**11 + 3]
    assert asked("sample_sd(SUMS[1:3])".replace("SUMS[1:3]", f"{sum(base)}, {sum(one * one for one in base)}, 3"))[0] == 1
    (p,) = asked("welch_p(SUMS)", base, new)
    assert p == pytest.approx(p_value(1 / (2 / 3) ** 0.5, 4))


def limit(values: list[float | None]) -> float | None:
    with empty_database() as connection:
        row = connection.execute("SELECT significance_limit(p) FROM (SELECT unnest($1::DOUBLE[]) AS p)", [values]).fetchone()
        assert row is not None
        return row[0]  # type: ignore[no-any-return]


def test_the_limit_is_that_of_benjamini_and_hochberg() -> None:
    # The example of their paper of 1995: of 15 p-values four are significant at 5 %.
    paper = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert limit([*paper]) == 0.0095
    assert limit([*paper[::-1], None]) == 0.0095, "in any order, and what is not known does not count"
    assert limit([0.04, 0.03, 0.045]) == 0.045, "a larger one may let in a smaller one that would fail alone"
    assert limit([0.2, 0.9]) is None
    assert limit([None]) is None


def test_of_noise_alone_few_rows_are_called_changed() -> None:
    drawn = random.Random(7)
    rows = 300
    p_values: list[float | None] = []
    for _ in range(rows):
        base, new = ([round(drawn.gauss(10_000, 300)) for _ in range(8)] for _ in range(2))
        errors = [variance(one) / 8 for one in (base, new)]
        freedom = sum(errors) ** 2 / sum(error * error / 7 for error in errors)
        p_values.append(p_value((mean(new) - mean(base)) / sum(errors) ** 0.5, freedom))
    found = limit(p_values)
    called = sum(one <= found for one in p_values if one is not None and found is not None)
    assert called <= 0.05 * rows
    assert 0.02 * rows < sum(one <= 0.05 for one in p_values if one is not None) < 0.09 * rows, "p-values are uniform"
