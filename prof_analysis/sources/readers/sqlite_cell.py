"""A column of an SQLite file as DuckDB takes it: every value has its type, or is NULL."""

from dataclasses import dataclass

from prof_analysis.engine.quotes import quote


@dataclass(frozen=True)
class Cell:
    """A column to read: its name and its type in DuckDB (BIGINT, DOUBLE, VARCHAR or BLOB), its name and type in the file."""

    column: str
    type: str
    file_column: str
    declared_type: str

    @property
    def is_number_as_text(self) -> bool:
        """Whether the file declares a column of numbers as TEXT, such as the times of PYTORCH_API."""
        return self.type == "BIGINT" and "TEXT" in self.declared_type

    @property
    def as_it_is(self) -> str:
        """The SQLite expression of the first try. A text is read as bytes: DuckDB does not find all faults of a text.

        What should be a text and is none becomes bytes that are none either, so that the first try fails.
        A time stamp that is a text of 19 characters is cast to a number without a check of each: copy_table() checks whether
        all are so large that they must have 19 digits. 3 million rows with two take 0.95 s of CPU, with a check of each 1.3 s.
        """
        name = self.in_file
        if self.type == "VARCHAR":
            return f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) WHEN 'null' THEN NULL ELSE x'FF' END"
        if self.is_number_as_text:
            return f"CASE octet_length({name}) WHEN 19 THEN CAST({name} AS INTEGER) ELSE {self.checked} END"
        return self.checked if self.type in ("DOUBLE", "BLOB") else name

    @property
    def checked(self) -> str:
        """The SQLite expression that gives the column's type or NULL; NULL also for a REAL that may have lost digits."""
        name = self.in_file
        if self.type == "VARCHAR":
            return f"CASE typeof({name}) WHEN 'text' THEN {name} END"
        if self.type == "BLOB":
            return f"CASE WHEN typeof({name}) IN ('blob', 'text') THEN CAST({name} AS BLOB) END"
        if self.type == "DOUBLE":
            return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"
        return (
            f"CASE typeof({name}) WHEN 'integer' THEN {name}"
            f" WHEN 'real' THEN CASE WHEN abs({name}) < 9007199254740992 AND {name} = CAST({name} AS INTEGER)"
            f" THEN CAST({name} AS INTEGER) END"
            f" WHEN 'text' THEN CASE WHEN CAST(CAST({name} AS INTEGER) AS TEXT) = {name} THEN CAST({name} AS INTEGER) END END"
        )

    @property
    def typed(self) -> str:
        """The DuckDB expression that casts a cell of as_it_is to the column's type; it fails for a number that is BLOB."""
        name = quote(self.column)
        return f"decode({name})" if self.type == "VARCHAR" else name

    @property
    def dummy(self) -> str:
        """An SQLite value of the type that as_it_is gives."""
        return {"VARCHAR": "x''", "BLOB": "x''", "DOUBLE": "0.0"}.get(self.type, "0")

    @property
    def in_file(self) -> str:
        """The column in SQLite; a quoted rowid would be a text where a table has none."""
        return "rowid" if self.file_column == "rowid" else quote(self.file_column)
