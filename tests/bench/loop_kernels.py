"""Kernels around forms of loops."""

from dataclasses import dataclass

REGISTERS = """
  .reg .pred %p, %q, %t, %u, %c<9>;
  .reg .b16 %h<4>;
  .reg .b32 %n, %s, %i, %j, %k, %m, %y<99>;
  .reg .f32 %x, %v, %w, %f, %g, %z<99>;
  .reg .f64 %d<9>;
  .reg .b64 %a, %b, %o, %e, %N, %S, %I, %J, %K, %l<9>;
"""
ENTRY = """
  ld.param.u64 %a, [A]; cvta.to.global.u64 %a, %a; ld.param.u64 %b, [B]; cvta.to.global.u64 %b, %b;
  ld.param.u64 %o, [O]; cvta.to.global.u64 %o, %o; ld.param.u32 %n, [P]; ld.param.u32 %s, [S]; ld.param.u64 %N, [PP];
  ld.param.u64 %S, [SS]; ld.param.u64 %e, [E]; cvta.to.global.u64 %e, %e; mov.f32 %x, 0f00000000; mov.b32 %m, 0;
"""
LEAVE = "EXIT: st.global.f32 [%o], %x; ret;"
LOADS = "ld.global.nc.f32 %v, [%a]; ld.global.nc.f32 %w, [%b];"
NEXT = "add.s64 %a, %a, 4; add.s64 %b, %b, 4;"
SUM = "fma.rn.f32 %x, %v, %w, %x;"
BODY = f"{LOADS} {SUM} {NEXT}"
GUARD = "mov.b32 %i, %n; setp.eq.s32 %q, %i, 0; @%q bra EXIT;"
DOWN = "add.s32 %i, %i, -1;"
NE = "setp.ne.s32 %p, %i, 0;"
EQ = "setp.eq.s32 %p, %i, 0;"
BACK = "@%p bra H;"
PARAMETERS = (
    ".param .u64 A, .param .u64 B, .param .u64 O, .param .u32 P, .param .u32 S, .param .u64 PP, "
    ".param .u64 SS, .param .u64 E"
)
CONSTANT = r"LDG\.E\.CONSTANT"  # only the loads of the original body, not an added load
GLOBALS = ".shared .align 16 .b8 sh[4096];\n"
CALLEE = """.func (.reg .f32 %r) callee(.reg .f32 %v) { mul.f32 %r, %v, 0f40400000; ret; }
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
"""


@dataclass(frozen=True)
class Form:
    """A kernel, the number of instructions in its body that match the marker, and the prediction."""

    group: str
    name: str
    predicted: str
    text: str
    marker: str = r"LDG\."
    each: int = 2
    arguments: tuple = ()
    functions: str = GLOBALS


class Forms(list):
    """A list of forms. A form's code is added without the head and the declarations of its kernel."""

    def add(self, group, name, predicted, code, *, bounds="", extra="", **others):
        name = f"{group}_{name}"
        head = f".visible .entry {name}({PARAMETERS}) {bounds}\n"
        text = f"{head}{{{REGISTERS}{extra}{ENTRY}\n{code}\n}}\n"
        self.append(Form(group, name, predicted, text, **others))

    def loop(self, group, name, predicted, latch, *, body=BODY, before=GUARD, after=LEAVE, **others):
        """Adds a loop with the header before the body and the test after it."""
        self.add(group, name, predicted, f"{before}\nH:\n{body}\n{latch}\n{after}", **others)
