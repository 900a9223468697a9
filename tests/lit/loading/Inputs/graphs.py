"""graphs.py reducible|irreducible COUNT: prints LLVM IR with COUNT functions of random control flow graphs, and a main
function.

Except for the target triple, which is NVPTX's, the IR runs anywhere. Each block of a function passes its number and
its values to @choose, and branches by the number that @choose returns. Two functions with the same meaning
therefore make the same calls. @choose ends a run after a fixed number of calls. main then prints the hash of all
calls, for each function from several seeds. The graphs are the same in each run of the program.
"""

import random
import sys
from itertools import count

CALLS = 60
SEEDS = range(1, 5)

RUNTIME = f"""
target triple = "nvptx64-nvidia-cuda"
@state = global i32 1
@hash = global i32 0
@calls = global i32 0
@format = constant [10 x i8] c"%d %d %u\\0A\\00"
declare i32 @printf(ptr, ...)
declare i32 @fflush(ptr)
declare i32 @fork()
declare i32 @wait(ptr)
declare void @_exit(i32)

define i32 @choose(i32 %block, i32 %value) noinline optnone {{
  %hash = load i32, ptr @hash
  %a = mul i32 %hash, 31
  %b = add i32 %a, %block
  %c = mul i32 %b, 37
  %new = add i32 %c, %value
  store i32 %new, ptr @hash
  %state = load i32, ptr @state
  %d = mul i32 %state, 1103515245
  %next = add i32 %d, 12345
  store i32 %next, ptr @state
  %calls = load i32, ptr @calls
  %more = add i32 %calls, 1
  store i32 %more, ptr @calls
  %enough = icmp sgt i32 %more, {CALLS}
  br i1 %enough, label %stop, label %go
stop:
  call void @finish(i32 -1)
  br label %go
go:
  %choice = lshr i32 %next, 16
  ret i32 %choice
}}

define void @finish(i32 %result) noinline optnone {{
  %hash = load i32, ptr @hash
  %calls = load i32, ptr @calls
  call i32 (ptr, ...) @printf(ptr @format, i32 %calls, i32 %result, i32 %hash)
  call i32 @fflush(ptr null)
  call void @_exit(i32 0)
  ret void
}}

define void @try(ptr %function, i32 %seed) noinline optnone {{
  %process = call i32 @fork()
  %is_child = icmp eq i32 %process, 0
  br i1 %is_child, label %child, label %parent
child:
  store i32 %seed, ptr @state
  %result = call i32 %function(i32 %seed)
  call void @finish(i32 %result)
  ret void
parent:
  call i32 @wait(ptr null)
  ret void
}}
"""


def random_graph(rng):
    """The successors of each block. Block 0 is the entry, and a block without successors returns."""
    size = rng.randrange(3, 11)

    def some(number):
        return [rng.randrange(1, size) for _ in range(number)]

    def successors(block):
        kind = rng.random()
        if block and kind < 0.1:
            return []
        return some(1 if kind < 0.3 else 2 if kind < 0.8 else rng.randrange(2, 5))

    return [successors(block) for block in range(size)]


def reachable(graph):
    seen, todo = {0}, [0]
    while todo:
        for successor in graph[todo.pop()]:
            if successor not in seen:
                seen.add(successor)
                todo.append(successor)
    return sorted(seen)


def predecessors_in(graph, blocks):
    """Returns the predecessors of each block. A block is listed once for each of its edges to the successor."""
    return {block: [p for p in blocks for successor in graph[p] if successor == block] for block in blocks}


def is_reducible(graph):
    """Whether merging blocks into their only predecessors and removing loops of one block reduces the graph to one
    block."""
    blocks = reachable(graph)
    edges = {block: set(graph[block]) - {block} for block in blocks}
    while True:
        for block in edges:
            into = [p for p in edges if block in edges[p]]
            if block != 0 and len(into) == 1:
                edges[into[0]] = (edges[into[0]] | edges.pop(block)) - {block, into[0]}
                break
        else:
            return len(edges) == 1


def function(name, graph, rng):
    blocks = reachable(graph)
    predecessors = predecessors_in(graph, blocks)
    lines = [f"define i32 @{name}(i32 %seed) {{"]
    for b in blocks:
        lines.append(f"b{b}:")
        if b == 0:
            lines += ["  %v0 = add i32 %seed, 1", "  %w0 = add i32 %seed, 7"]
        else:
            lines.append(f"  %v{b} = phi i32 " + ", ".join(f"[ %n{p}, %b{p} ]" for p in predecessors[b]))
            values = {p: rng.choice([f"%v{p}", p]) for p in predecessors[b]}
            lines.append(f"  %w{b} = phi i32 " + ", ".join(f"[ {values[p]}, %b{p} ]" for p in predecessors[b]))
        lines += [
            f"  %s{b} = add i32 %v{b}, %w{b}",
            f"  %c{b} = call i32 @choose(i32 {b}, i32 %s{b})",
            f"  %n{b} = add i32 %v{b}, {rng.randrange(-3, 4)}",
        ]
        match graph[b]:
            case []:
                lines.append(f"  ret i32 %n{b}")
            case [to]:
                lines.append(f"  br label %b{to}")
            case [first, second]:
                lines += [f"  %t{b} = and i32 %c{b}, 1", f"  %i{b} = icmp eq i32 %t{b}, 0"]
                lines.append(f"  br i1 %i{b}, label %b{first}, label %b{second}")
            case [default, *others]:
                cases = " ".join(f"i32 {number}, label %b{to}" for number, to in enumerate(others, 1))
                lines += [f"  %t{b} = urem i32 %c{b}, {len(graph[b])}"]
                lines.append(f"  switch i32 %t{b}, label %b{default} [ {cases} ]")
    return "\n".join([*lines, "}"])


def main():
    wants_reducible, number = sys.argv[1] == "reducible", int(sys.argv[2])
    print(RUNTIME)
    names = []
    for seed in count():
        rng = random.Random(seed)
        graph = random_graph(rng)
        if len(reachable(graph)) > 2 and is_reducible(graph) == wants_reducible:
            names.append(f"f{seed}")
            print(function(names[-1], graph, rng))
        if len(names) == number:
            break
    print("define i32 @main() {")
    for name in names:
        for seed in SEEDS:
            print(f"  call void @try(ptr @{name}, i32 {seed})")
    print("  ret i32 0\n}")


if __name__ == "__main__":
    main()
