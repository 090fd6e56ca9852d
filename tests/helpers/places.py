"""Where the checkout is, and the sample in it."""

from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
SAMPLE = CHECKOUT / "fixtures" / "sample"
