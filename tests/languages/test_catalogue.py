"""The catalogue has all that people read, and says it in Chinese with the same figures, code and options."""

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO

import pytest

from docs.catalogue import NOT_SHOWN, compiled, file_of, read, texts
from prof_analysis.languages import CHINESE
from prof_analysis.languages.templates import parts_of


@cache
def translations() -> dict[str, str]:
    """Return the translation of each text that is shown."""
    return {str(message.id): str(message.string) for message in read(CHINESE) if message.id and NOT_SHOWN not in message.flags}


def gaps(text: str) -> set[str]:
    """Return the names of the gaps of a template."""
    return set(re.findall(r"\{(\w+)", text.replace("{{", "")))


def test_it_has_each_text_of_the_code_and_no_other() -> None:
    """`python -m docs.catalogue` adds what is new, and takes out what is gone."""
    known = {message.id for message in read(CHINESE) if message.id and message.locations}
    assert known == set(texts())


def test_each_text_has_a_translation_or_is_not_shown() -> None:
    assert not [text for text, shown in translations().items() if not shown]


def test_the_compiled_catalogue_is_that_of_the_texts() -> None:
    assert file_of(CHINESE).with_suffix(".mo").read_bytes() == compiled(read(CHINESE))


def odd() -> Iterator[tuple[str, str]]:
    """Yield what a translation has and its text lacks, or the other way round."""
    for text, shown in translations().items():
        if more := gaps(shown) - gaps(text):
            yield text, f"has gaps {more}"
        if sorted(re.findall(r"`[^`]+`", text)) != sorted(re.findall(r"`[^`]+`", shown)):
            yield text, "has other code"
        if set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) != set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)):
            yield text, "has other options"
        if re.search(r"[\u4e00-\u9fff][,;:.?](?!\w)", shown):
            yield text, "has signs of English behind Chinese"


def test_a_translation_keeps_gaps_code_and_options() -> None:
    assert not list(odd())


@pytest.mark.parametrize("sign", ["<<", "||", ">>"])
def test_what_is_said_of_one_kind_of_device_stays_so(sign: str) -> None:
    assert not [text for text, shown in translations().items() if text.count(sign) != shown.count(sign)]


def test_each_template_can_be_read() -> None:
    for text, shown in translations().items():
        assert parts_of(text) and parts_of(shown)


def test_reading_what_was_written_changes_nothing() -> None:
    from babel.messages.pofile import write_po

    written = BytesIO()
    write_po(written, read(CHINESE), width=128, omit_header=True, include_lineno=False)
    assert written.getvalue() == file_of(CHINESE).read_bytes()
