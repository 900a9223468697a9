"""Guesses the arguments of a Triton kernel from its source: which are pointers, to what, and what constants are.

Triton compiles a kernel for the types of its arguments, which only a call tells. Names and uses tell most of them; what
is left open is tried in several ways, one per guess.
"""

import ast
import re
import textwrap

import triton.language as tl
from triton.runtime.jit import JITFunction

MOST_CALLS = 3  # of one function in another, that pointers are followed through
GUESSES = 6  # three element types, with large and with small constants
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

# Constants by name: the first rule that matches. A pair is the value of large and of small guesses.
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
    """(signature, constants, names of the arguments that are multiples of 16) for a guess from 0 to GUESSES - 1.

    By use, what addresses start from are pointers, and nothing else is, whatever the names.
    """
    signature, constants = {}, {}
    pointers = pointers_of(function) if is_by_use else None
    for parameter in function.params:
        name = parameter.name
        if parameter.is_constexpr:
            signature[name], constants[name] = "constexpr", constant(function, parameter, number)
        else:
            signature[name] = kind(function, parameter, number, pointers)
            if signature[name] == "constexpr":
                constants[name] = None
    aligned = [n for n, kind in signature.items() if kind.startswith("*") or (kind == "i32" and "stride" in n)]
    return signature, constants, aligned


def kind(function, parameter, number, pointers=None):
    """The type of an argument that is no constant."""
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
    """Whether a name is where a load, a store or a block starts."""
    word = re.escape(name)
    uses = rf"tl\.(load|store|make_block_ptr|atomic_\w+)\(\s*{word}\b"
    return bool(re.search(uses, source) or (re.search(rf"\b{word}\s*\+=", source) and not INTEGER.search(name)))


def pointers_of(function, depth=0):
    """The arguments that addresses of loads, stores and atomic operations start from, in callees too."""
    tree = ast.parse(textwrap.dedent(function.src))
    starts, addresses = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            starts.setdefault(node.targets[0].id, set()).add(start_of(node.value))
        elif isinstance(node, ast.Call):
            addresses |= {start_of(address) for address in addresses_of(node, function, depth)}
    found = set()
    while addresses - found:
        found |= addresses
        addresses = set().union(*(starts.get(name, ()) for name in found))
    return {parameter.name for parameter in function.params} & found


def start_of(address):
    """The name that a sum starts with, through conversions and steps."""
    while not isinstance(address, ast.Name):
        if isinstance(address, ast.BinOp) and isinstance(address.op, ast.Add | ast.Sub):
            address = address.left
        elif isinstance(address, ast.Call) and isinstance(address.func, ast.Attribute):
            is_of_triton = isinstance(address.func.value, ast.Name) and address.func.value.id == "tl"
            base = [word.value for word in address.keywords if word.arg == "base"]
            if is_of_triton and not address.args and not base:
                return None
            address = (address.args + base)[0] if is_of_triton else address.func.value
        else:
            return None
    return address.id


def addresses_of(call, function, depth):
    """What a call takes as addresses."""
    by_name = {word.arg: word.value for word in call.keywords}
    if isinstance(call.func, ast.Attribute) and re.match(r"load$|store$|atomic_|make_block_ptr$", call.func.attr):
        return call.args[:1] or [by_name[name] for name in ("pointer", "base") if name in by_name]
    callee = function.fn.__globals__.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if not isinstance(callee, JITFunction) or depth == MOST_CALLS:
        return []
    names = [parameter.name for parameter in callee.params]
    by_name |= dict(zip(names, call.args, strict=False))
    return [by_name[name] for name in pointers_of(callee, depth + 1) if name in by_name]


def constant(function, parameter, number):
    """The value of a constant."""
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
