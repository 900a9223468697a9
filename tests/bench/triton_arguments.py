"""Guesses the arguments of a Triton kernel from its source: the pointers, their element types, and the values of
constants.

Triton compiles a kernel for the types of its arguments, which are known only from a call. Names and uses determine
most of the types. Several guesses cover the undetermined types.
"""

import re

import triton.language as tl

from triton_uses import integers_of, pointers_of

GUESSES = 12  # three element types, with large and with small constants; then the same with more integers
FIRST_WITH_INTEGERS = 6
ELEMENTS = ("*bf16", "*fp32", "*fp16")

ALWAYS_FLOAT32 = re.compile(r"^(g|gk|gv|A|Aqk|lse|m|h0|ht|dh0|dht|Mean|RSTD|mean|rstd|loss|delta|dg)(_|$)")
INDICES = re.compile(r"indices|_idx|index|ids|target|offsets|block_table|labels", re.I)
ABSENT = re.compile(r"cu_seq|chunk_indices|chunk_offsets|initial_state_indices|^split_|^ht_indices")
POINTER = re.compile(r"ptr$|_ptr|^p_", re.I)
SHAPE = re.compile(r"^(T|B|H|HQ|HK|HV|G|K|V|D|N|M|L|S|C|W|BH|BS|NT|NC|NS|NH|NK|NV|T_max|TC)$")
INTEGER = re.compile(
    r"stride|_rows?$|_cols?$|^n_|^num_|_num$|size|_len$|length|offset_?$|_idx$|index$|dim|seq|seed|^max_|_per_|^(all|idx)$"
    r"|^total|step|^head|hidden|^(nrows|ncols|offset)$",
    re.I,
)
FLOAT = re.compile(
    r"scale|eps|^(alpha|beta|lr|p|delta|theta)$|decay|softcap|dropout|smoothing|factor|temperature|gamma_?$|momentum|bound"
    r"|slope|limit|bias_|inv_|lse_square|^z_loss|threshold|constant|clip|^casting",
    re.I,
)
SWITCH = re.compile(
    r"^(USE|IS|HAS|STORE|SAVE|OUTPUT|FUSED?|COMPUTE|REVERSE|TRANS(POSE)?|ALLOW|NORM|APPLY|ELEMENTWISE|INPLACE|RETURN|WRITE"
    r"|LOAD|CAUSAL|MASK|ENABLE|DO|SKIP|WITH|ACCUMULATE|L2|STATE|REDUCE|HEAD_FIRST|BIDI|IGNORE|GATHER|SCATTER|KV_|SAFE"
    r"|INFERENCE|CACHE)(_|$)|_IS_|^(use|is|has)_|_FLAG$",
    re.I,
)

# Constants by name; the first matching rule decides. A pair has the values for large and for small guesses.
CONSTANTS = [
    (r"IS_VARLEN|USE_TMA|is_varlen|USE_DATA_INDEX|HAS_VARLEN|CP_", False),
    (r".*allow_tf32.*|.*ALLOW_TF32.*", False),
    (r".*[Pp]recision.*|.*PRECISION.*", "ieee"),
    (r"(?i:activation)", "swish"),
    (r"reduction$", "mean"),
    (r".*(\bdtype\b|_dtype$|DTYPE)", tl.float32),
    (r"(BT|BS|BQ|BK|BV|BD|BN|BM)$", (64, 32)),
    (r"BC$", 16),
    (r"B$", 4),
    (r"B[A-Z]?\d?$", 64),
    (r"(H|HQ|HV|HK|NUM_HEADS)$", 8),
    (r"G$", (1, 4)),
    (r"(K|V|D|HEAD_DIM|head_dim|DK|DV|W_K)$", (128, 64)),
    (r"(NT|NC|N|NK|NV|NS|S|W)$", 4),
    (r"T$", 2048),
    (r".*stages", 2),
    (r".*warps", 4),
]


def guess(function, number, is_by_use=False):
    """Returns (signature, constants, names of the arguments that are multiples of 16) for a guess. Guesses are
    numbered from 0, and there are at most GUESSES of them. Returns `None` if there is no such guess.

    With `is_by_use`, names do not decide: exactly the arguments from which addresses start are pointers. In guesses
    from FIRST_WITH_INTEGERS on, arguments that are used for counting are integers, and arguments from which such
    values are loaded point to integers.
    """
    signature, constants = {}, {}
    pointers = pointers_of(function) if is_by_use else None
    integers = set()
    if number >= FIRST_WITH_INTEGERS:
        integers = integers_of(function) if is_by_use else integers
        if not integers:
            return None
        number -= FIRST_WITH_INTEGERS
    for parameter in function.params:
        name = parameter.name
        if parameter.is_constexpr:
            signature[name], constants[name] = "constexpr", constant(function, parameter, number)
        else:
            signature[name] = kind(function, parameter, number, pointers)
            if name in integers:
                signature[name] = "*i32" if name in pointers else "i32"
            if signature[name] == "constexpr":
                constants[name] = None
    aligned = [n for n, kind in signature.items() if kind.startswith("*") or (kind == "i32" and "stride" in n)]
    return signature, constants, aligned


def kind(function, parameter, number, pointers=None):
    """Returns the type of an argument that is not a constant."""
    name, annotation = parameter.name, str(parameter.annotation or "")
    if pointers is not None:
        if name in pointers:
            return "*i64" if INDICES.search(name) else ELEMENTS[number % len(ELEMENTS)]
        return "fp32" if FLOAT.search(name) or "float" in annotation else "i32"
    if annotation in ("int", "i32", "tl.int32", "tl.int64"):
        return "i32"
    if annotation in ("float", "tl.float32"):
        return "fp32"
    if ABSENT.search(name):
        return "constexpr"
    if not POINTER.search(name) and not is_dereferenced(function.src, name):
        if SHAPE.search(name) or INTEGER.search(name):
            return "i32"
        if FLOAT.search(name):
            return "fp32"
    if name == "T":
        return "i32"
    if INDICES.search(name):
        return "*i64"
    return "*fp32" if ALWAYS_FLOAT32.search(name) else ELEMENTS[number % len(ELEMENTS)]


def is_dereferenced(source, name):
    """Whether a load, a store or a block pointer starts from a name."""
    word = re.escape(name)
    uses = rf"tl\.(load|store|make_block_ptr|atomic_\w+)\(\s*{word}\b"
    return bool(re.search(uses, source) or (re.search(rf"\b{word}\s*\+=", source) and not INTEGER.search(name)))


def constant(function, parameter, number):
    """Returns the value of a constant."""
    name, is_large = parameter.name, number < len(ELEMENTS)
    for pattern, value in CONSTANTS:
        if re.match(pattern, name):
            return value[not is_large] if isinstance(value, tuple) else value
    if SWITCH.search(name):
        return is_large
    if re.search(r"BLOCK|TILE|CHUNK", name, re.I):
        is_wide = re.search(r"(BLOCK(_SIZE(_N)?)?|BLOCK_N|XBLOCK)$", name) and "tl.dot" not in function.src
        return 1024 if is_wide else 64
    if parameter.has_default and parameter.default is not None:
        return parameter.default
    if re.search(r"scale|eps|beta|alpha|softcap", name):
        return 1.0
    if re.search(r"dim|size|hidden|cols|_[DNKM]$", name, re.I):
        return 128
    return 4 if name.isupper() or name.islower() else True
