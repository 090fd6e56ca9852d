"""Quotes names and texts for SQL."""


def quote(identifier: str) -> str:
    """Quote a name for use as an SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote a text for use in an SQL statement that takes no parameters, such as COPY."""
    return "'" + text.replace("'", "''") + "'"
