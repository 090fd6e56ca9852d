"""The figures that a profiler wrote for a rank, as its files name and write them."""

from decimal import ROUND_HALF_UP, Decimal

# Column -> its name in the database, and in other words in the texts.
TIMES = {"elapse_ns": "elapse_time", "transit_ns": "transit_time", "wait_ns": "wait_time",
          "synchronization_ns": "synchronization_time", "idle_ns": "idle_time"}  # fmt: skip
STEP_TIMES = {"computing_ns": "computing", "communication_not_overlapped_ns": "communication(not overlapped)",
               "overlapped_ns": "overlapped", "communication_ns": "communication", "free_ns": "free", "stage_ns": "stage",
               "bubble_ns": "bubble", "preparing_ns": "preparing"}  # fmt: skip

MS, US, MB, KIB = 10**6, 10**3, 10**6, 2**10
BOUND = 10**15  # Eleven days in ns; a larger value is wrong, and sums with it would not fit.
BOUND_OF_TIMES = 2**62  # The bound of times in Unix ns.


def whole_of(value: object, scale: int = 1, bound: int = BOUND) -> int | None:
    """Return a number in a smaller unit, such as ms in ns, rounded, and computed without floats."""
    try:
        number = Decimal(str(value)) * scale
        return int(number.to_integral_value(ROUND_HALF_UP)) if abs(number) < bound else None
    except ArithmeticError:
        return None
