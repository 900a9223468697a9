"""Uses of a Triton kernel's arguments in its source: which arguments are pointers, and which are integers.

A function is Triton's own, or any object with `src`, `params` with their names, and `fn`.
"""

import ast
import re
import textwrap

MOST_CALLS = 3  # most nested calls through which pointers are followed
BITWISE = ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift | ast.FloorDiv | ast.Mod
# Functions that return an integer if their arguments are integers.
SELECTIONS = ("minimum", "maximum", "min", "max", "where", "sum", "multiple_of", "max_contiguous", "cdiv")


def pointers_of(function, depth=0):
    """Returns the arguments from which addresses of loads, stores and atomic operations start, also in callees."""
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


def integers_of(function):
    """Returns the arguments that are integers, or that point to integers. The evidence is the use of an argument or of
    a loaded value: it counts steps of an address, it counts iterations of a loop, or its bits are used."""
    tree = ast.parse(textwrap.dedent(function.src))
    pointers, origins, wanted = pointers_of(function), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            origins.setdefault(node.targets[0].id, set()).update(origins_of(node.value))
        if isinstance(node, ast.BinOp) and isinstance(node.op, BITWISE):
            wanted |= origins_of(node.left) | origins_of(node.right)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and start_of(node) in pointers:
            wanted |= origins_of(node.right)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("range", "tl.range"):
            wanted = wanted.union(*map(origins_of, node.args))
        elif isinstance(node, ast.Call):
            wanted = wanted.union(*(origins_of(a) - {start_of(a)} for a in addresses_of(node, function, MOST_CALLS)))
    found = set()
    while wanted - found:
        found |= wanted
        wanted = set().union(*(origins.get(name, ()) for name in found - pointers))
    return {parameter.name for parameter in function.params} & found


def origins_of(value):
    """Returns the names from which a value is computed. For a load, this is the start of its address."""
    if isinstance(value, ast.Compare):
        return set()  # the result is a boolean
    if isinstance(value, ast.Name):
        return {value.id}
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr == "load":
            return {start_of(value.args[0])} - {None} if value.args else set()
        if value.func.attr != "to":
            return set().union(*map(origins_of, value.args)) if value.func.attr in SELECTIONS else set()
    if isinstance(value, ast.Call):
        value = value.func
    return set().union(*map(origins_of, ast.iter_child_nodes(value)))


def start_of(address):
    """Returns the first name of an address, which may be a sum with conversions and steps."""
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
    """Returns the arguments of a call that are addresses."""
    by_name = {word.arg: word.value for word in call.keywords}
    if isinstance(call.func, ast.Attribute) and re.match(r"load$|store$|atomic_|make_block_ptr$", call.func.attr):
        return call.args[:1] or [by_name[name] for name in ("pointer", "base") if name in by_name]
    callee = function.fn.__globals__.get(call.func.id) if isinstance(call.func, ast.Name) else None
    # A stand-in has every attribute, but its source is not text.
    if not isinstance(getattr(callee, "src", None), str) or depth == MOST_CALLS:
        return []
    names = [parameter.name for parameter in callee.params]
    by_name |= dict(zip(names, call.args, strict=False))
    return [by_name[name] for name in pointers_of(callee, depth + 1) if name in by_name]
