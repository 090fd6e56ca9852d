"""stack.call_stack: calls of the same functions, called from the same functions, are one stack."""

from prof_analysis.engine.rows_of import Row, rows_of

# Call, the call around it, its frame.
CALLS = [(1, None, "main"), (2, 1, "f"), (3, 2, "g"), (4, 1, "f"), (5, 4, "g"), (6, 1, "g"), (7, 3, None), (8, None, "f")]


def test_equal_stacks_have_one_id_and_others_their_own() -> None:
    given: list[Row] = [{"frame_id": call, "parent_id": around, "name": name} for call, around, name in CALLS]
    found = {row["frame_id"]: row for row in rows_of("stack.call_stack", {"stack.frame_call": given})}
    stack = {call: row["stack_id"] for call, row in found.items()}
    assert (stack[2], stack[3]) == (stack[4], stack[5])
    assert len({*stack.values()}) == len(CALLS) - 2
    assert {call: row["caller_id"] for call, row in found.items()} == {
        call: None if around is None else stack[around] for call, around, _ in CALLS
    }
    assert {call: row["name"] for call, row in found.items()} == {call: name for call, _, name in CALLS}
