//! Values with a range that a compiler knows, and its conclusions: comparisons that are always true, sums that do not
//! wrap, signs that do not matter, halves that are zero.

use super::body::{Body, Value};
use super::class::Class;

/// Operations that give a value a range.
const RANGES: [&str; 18] = [
    "and.b32 R, A, {1,7,15,31,127,255,65535,2147483647}",
    "shr.u32 R, A, {1,8,16,24,28,31}",
    "shr.s32 R, A, {1,16,24,30,31}",
    "min.u32 R, A, {1,7,15,100,255,2147483647,2147483648}",
    "min.s32 R, A, {-1,0,7,100,2147483646}",
    "max.s32 R, A, {-1,0,1,-100,2147483000,-2147483647}",
    "max.u32 R, A, {1,2147483648,4294967290}",
    "rem.u32 R, A, {2,3,10,1000}",
    "rem.s32 R, A, {2,3,10,16,-7}",
    "div.u32 R, A, {2,3,10,65536}",
    "bfe.u32 R, A, {0,4,8,24}, {1,4,8,16}",
    "bfe.s32 R, A, {0,4,8,24}, {1,4,8,16}",
    "popc.b32 R, A",
    "clz.b32 R, A",
    "or.b32 R, A, {1,-256,-2147483648,240}",
    "cvt.{s,u}32.{s,u}8 R, A",
    "cvt.{s,u}32.{s,u}16 R, A",
    "sub.s32 R, A, A",
];

/// Operations on such a value before the conclusion. `B` is another value.
const STEPS: [&str; 15] = [
    "add.s32 R, A, {1,-1,3,16,100,-8,2147483647,-2147483648}",
    "sub.s32 R, {0,31,32,255,-1}, A",
    "mul.lo.s32 R, A, {2,3,4,12,-1,255,65537}",
    "shl.b32 R, A, {1,2,4,8,16,24}",
    "neg.s32 R, A",
    "not.b32 R, A",
    "xor.b32 R, A, {1,255,-1,-2147483648}",
    "add.s32 R, A, B",
    "sub.s32 R, A, B",
    "mul.lo.s32 R, A, B",
    "and.b32 R, A, B",
    "or.b32 R, A, B",
    "min.{s,u}32 R, A, B",
    "max.{s,u}32 R, A, B",
    "shr.{s,u}32 R, A, {1,2,4}",
];

/// Conclusions: operations that a compiler can simplify if it knows the range, with the class of the result.
const CONCLUSIONS: [(u32, (Class, &str)); 17] = [
    (
        6,
        (Class::Pred, "setp.{eq,ne,lt,le,gt,ge}.{s,u}32 R, A, {0,1,-1,7,8,15,16,31,32,255,256,2147483647,-2147483648}"),
    ),
    (4, (Class::Pred, "setp.{eq,ne,lt,le,gt,ge}.{s,u}32 R, A, B")),
    (2, (Class::Pred, "setp.{eq,ne,lt,le,gt,ge}.{s,u}16 R, H, {0,1,-1,127,128,255,-32768}")),
    (3, (Class::B64, "cvt.{s64.s32,u64.s32,u64.u32} R, A")),
    (3, (Class::B64, "mul.wide.{s,u}32 R, A, {1,2,4,12,65536,-1}")),
    (2, (Class::B64, "mul.wide.{s,u}32 R, A, B")),
    (2, (Class::B32, "shr.{s,u}32 R, A, {1,2,4,8,31}")),
    (2, (Class::B32, "{div,rem}.{s,u}32 R, A, {2,3,4,10,16,-2,-4}")),
    (2, (Class::B32, "{min,max}.{s,u}32 R, A, {0,1,-1,7,255}")),
    (2, (Class::B32, "{shl.b32,shr.u32,shr.s32} R, B, A")),
    (2, (Class::B32, "shf.{l,r}.{wrap,clamp}.b32 R, B, B, A")),
    (1, (Class::B32, "bfe.{s,u}32 R, B, A, {1,8,31}")),
    (1, (Class::F32, "cvt.rn.f32.{s,u}32 R, A")),
    (1, (Class::B32, "mul.hi.{s,u}32 R, A, B")),
    (1, (Class::B32, "mul24.lo.{s,u}32 R, A, B")),
    (2, (Class::B32, "{bfind.u32,bfind.s32,clz.b32,popc.b32,brev.b32} R, A")),
    (1, (Class::B32, "abs.s32 R, A")),
];

impl Body {
    /// Appends a line of these tables. `R` is the result, `A` and `B` are values.
    fn ranged_line(&mut self, pattern: &str, class: Class, value: &Value) -> Value {
        let text = self.drawn.pattern(pattern);
        let other = self.variable_or_value(Class::B32);
        let result = self.register(class);
        let mut is_uniform = value.is_uniform;
        let (op, operands) = text.split_once(' ').unwrap_or((&text, ""));
        let half =
            operands.contains('H').then(|| self.compute(Class::B16, "cvt.u16.u32", &value.name, is_uniform).name);
        let operands: Vec<String> = operands
            .split(", ")
            .map(|operand| match operand {
                "R" => result.clone(),
                "A" => value.name.clone(),
                "H" => half.clone().unwrap_or_default(),
                "B" => {
                    is_uniform &= other.is_uniform;
                    other.name.clone()
                }
                constant => constant.to_owned(),
            })
            .collect();
        // Conversions from 8 and 16 bits use a 32-bit register.
        self.line(&format!("{op} {}", operands.join(", ")));
        self.define(&result, class, is_uniform)
    }

    /// Appends a value with a range, steps, and a conclusion; then a second conclusion from the same value.
    pub(super) fn range(&mut self) {
        let source = self.source(Class::B32);
        let pattern = self.drawn.one_of(&RANGES);
        let mut value = if pattern.starts_with("cvt.") && pattern.ends_with("16 R, A") {
            let half = self.source(Class::B16);
            self.ranged_line(pattern, Class::B32, &half)
        } else {
            self.ranged_line(pattern, Class::B32, &source)
        };
        for _ in 0..self.drawn.below(3) {
            let step = self.drawn.one_of(&STEPS);
            value = self.ranged_line(step, Class::B32, &value);
        }
        for _ in 0..1 + self.drawn.below(2) {
            let (class, conclusion) = self.drawn.weighted(&CONCLUSIONS);
            if conclusion.starts_with("abs") {
                value = self.limited(&value, "max.s32", -0x7fff_ffff);
            }
            self.ranged_line(conclusion, class, &value);
        }
    }
}
