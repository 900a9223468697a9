"""Notes for the program in ptxas's place, as comments behind the PTX: docs/ptxas.md has the format."""


def noted(ptx, *, dynamic_shared, is_timed=False, is_candidate=False):
    """The text with notes behind it. Bytes are those that each launch adds to the kernels' own shared memory."""
    notes = [word for word, is_so in (("timed", is_timed), ("candidate", is_candidate)) if is_so]
    notes.append(f"dynamic-shared {dynamic_shared}")
    return "\n".join([ptx.rstrip(), *(f"// nvptx-ra: {note}" for note in notes), ""])
