"""Notes for the ptxas wrapper, as comments after the PTX: docs/ptxas.md has the format."""


def noted(ptx, *, dynamic_shared, is_timed=False, is_candidate=False):
    """Returns the PTX with notes after it. The bytes are the shared memory that each launch adds to the kernels' own."""
    notes = [word for word, is_so in (("timed", is_timed), ("candidate", is_candidate)) if is_so]
    notes.append(f"dynamic-shared {dynamic_shared}")
    return "\n".join([ptx.rstrip(), *(f"// nvptx-ra: {note}" for note in notes), ""])
