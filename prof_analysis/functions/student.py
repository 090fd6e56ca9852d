"""Student's t distribution: how likely a difference is by chance, and how far from 0 chance takes it."""

from math import exp, fabs, inf, lgamma, log, log1p, pi, sqrt, tan

# The part of the values that an interval leaves out.
_OUTSIDE = 0.05
_SMALLEST = 1e-300


def p_value(t: float, freedom: float) -> float:
    """Return the probability that t, with so many degrees of freedom, is at least as far from 0 as this one."""
    square = t * t
    if square == 0:
        return 1.0
    if square == inf:
        return 0.0
    # The regularised incomplete beta function I(freedom / 2, 1 / 2) at freedom / (freedom + square).
    x, y = freedom / (freedom + square), square / (freedom + square)
    front = exp(-freedom / 2 * log1p(square / freedom) + log(y) / 2 - _log_beta(freedom / 2, 0.5))
    if x < (freedom + 2) / (freedom + 5):
        return front * _beta_fraction(freedom / 2, 0.5, x)
    return 1 - front * _beta_fraction(0.5, freedom / 2, y)


def quantile(freedom: float) -> float:
    """Return the distance from 0 that t, with so many degrees of freedom, exceeds with a probability of 5 %."""
    if freedom < 1:
        raise ValueError(f"{freedom}: degrees of freedom below 1")
    t = _first_guess(freedom)
    scale = exp(-_log_beta(freedom / 2, 0.5)) / sqrt(freedom)
    for _ in range(50):
        density = scale * exp(-(freedom + 1) / 2 * log1p(t * t / freedom))
        step = (p_value(t, freedom) - _OUTSIDE) / (2 * density)
        t += step
        if fabs(step) <= 1e-12 * t:
            break
    return t


def _first_guess(freedom: float) -> float:
    """Return a quantile from which Newton's method converges: it is too small, and the probability falls ever more slowly."""
    normal = 1.959963984540054
    expanded = normal + (normal**3 + normal) / (4 * freedom) + (5 * normal**5 + 16 * normal**3 + 3 * normal) / (96 * freedom**2)
    return min(expanded, 1 / tan(_OUTSIDE * pi / 2))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function over a, by Lentz' method; x < (a + 1) / (a + b + 2)."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        fraction *= c * d
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        fraction *= c * d
        if fabs(c * d - 1) < 1e-15:
            break
    return fraction / a


def _not_zero(value: float) -> float:
    return value if fabs(value) > _SMALLEST else _SMALLEST
