//! Collective operations of a warp or block. All threads arrive at them together.

use super::body::{Body, Value};
use super::class::Class;

impl Body {
    /// Appends a value from other threads of the warp.
    pub(super) fn warp(&mut self) {
        match self.drawn.below(8) {
            0..=2 => self.shuffle(),
            3 => {
                let predicate = self.comparison();
                let not = self.drawn.one_of(&["", "!"]);
                if self.drawn.is(50) {
                    self.compute(Class::B32, "vote.sync.ballot.b32", &format!("{not}{}, -1", predicate.name), false);
                } else {
                    let mode = self.drawn.one_of(&["all", "any", "uni"]);
                    let op = format!("vote.sync.{mode}.pred");
                    self.compute(Class::Pred, &op, &format!("{not}{}, -1", predicate.name), false);
                }
            }
            4 => {
                let value = self.source(Class::B32);
                let mask = self.drawn.one_of(&[1, 3, 7]);
                let low = self.limited(&value, "and.b32", mask);
                self.compute(Class::B32, "match.any.sync.b32", &format!("{}, -1", low.name), false);
            }
            5 => {
                let value = self.source(Class::B32);
                let op = self.drawn.one_of(&[
                    "add.s32", "add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32",
                ]);
                self.compute(Class::B32, &format!("redux.sync.{op}"), &format!("{}, -1", value.name), false);
            }
            6 => self.half_a_warp(),
            _ => {
                let predicate = self.comparison();
                if self.drawn.is(50) {
                    self.compute(Class::B32, "bar.red.popc.u32", &format!("0, {}", predicate.name), true);
                } else {
                    let mode = self.drawn.one_of(&["and", "or"]);
                    self.compute(Class::Pred, &format!("bar.red.{mode}.pred"), &format!("0, {}", predicate.name), true);
                }
            }
        }
    }

    fn shuffle(&mut self) {
        let value = self.source(Class::B32);
        let mode = self.drawn.one_of(&["up", "down", "bfly", "idx"]);
        let by = match self.drawn.is(60) {
            true => self.drawn.one_of(&["0", "1", "2", "5", "16", "31"]).to_owned(),
            false => {
                let by = self.source(Class::B32);
                self.limited(&by, "and.b32", 31).name
            }
        };
        let clamp = self.drawn.one_of(if mode == "up" {
            &["0", "0x1c00", "0x1800"]
        } else {
            &["31", "0x1c1f", "0x181f", "15"]
        });
        let (result, is_inside) = (self.register(Class::B32), self.register(Class::Pred));
        self.line(&format!("shfl.sync.{mode}.b32 {result}|{is_inside}, {}, {by}, {clamp}, -1", value.name));
        self.define(&result, Class::B32, false);
        self.define(&is_inside, Class::Pred, false);
    }

    /// Appends an exchange of values by half of the threads, while the other half executes other statements.
    fn half_a_warp(&mut self) {
        let Some(variable) = self.variable(Class::B32) else { return };
        let value = self.source(Class::B32);
        let (low, is_high, end) = (self.register(Class::B32), self.register(Class::Pred), self.label());
        self.line(&format!("and.b32 {low}, %t, 31"));
        self.line(&format!("setp.ge.u32 {is_high}, {low}, 16"));
        self.line(&format!("@{is_high} bra {end}"));
        let mode = self.drawn.one_of(&["down", "bfly"]);
        let by = self.drawn.one_of(&[1, 2, 4, 8]);
        let received = self.register(Class::B32);
        self.line(&format!("shfl.sync.{mode}.b32 {received}, {}, {by}, 0x101f, 0xffff", value.name));
        self.line(&format!("xor.b32 {}, {}, {received}", variable.name, variable.name));
        self.place(&end);
        self.line("bar.warp.sync -1");
    }

    /// Appends an exchange with other threads of the block through shared memory.
    pub(super) fn exchange(&mut self) {
        let class = self.drawn.one_of(&[Class::B32, Class::B32, Class::B64]);
        let value = self.source(class);
        let ty = class.bits_type();
        let own = self.register(Class::B32);
        self.line(&format!("mad.lo.u32 {own}, %t, 8, %exchange"));
        self.line("bar.sync 0");
        self.line(&format!("st.shared.{ty} [{own}], {}", value.name));
        self.line("bar.sync 0");
        let by = self.drawn.one_of(&[1, 3, 31, 32, 33, 63]);
        let (other, place) = (self.register(Class::B32), self.register(Class::B32));
        if self.drawn.is(50) {
            self.line(&format!("xor.b32 {other}, %t, {by}"));
        } else {
            self.line(&format!("add.u32 {other}, %t, {by}"));
            self.line(&format!("and.b32 {other}, {other}, 63"));
        }
        self.line(&format!("mad.lo.u32 {place}, {other}, 8, %exchange"));
        self.compute(class, &format!("ld.shared.{ty}"), &format!("[{place}]"), false);
    }

    /// Appends a product of matrices of integers, or of small whole numbers as halves: sums are exact in any order.
    pub(super) fn product(&mut self) {
        let is_float = self.drawn.is(40);
        let (shape, left, right) = self.drawn.one_of(&[("m16n8k16", 2, 1), ("m16n8k32", 4, 2)]);
        let (shape, left, right) =
            if is_float { self.drawn.one_of(&[("m16n8k8", 2, 1), ("m16n8k16", 4, 2)]) } else { (shape, left, right) };
        let class = if is_float { Class::F32 } else { Class::B32 };
        let factors: Vec<String> = (0..left + right).map(|_| self.factor(is_float)).collect();
        let addends: Vec<String> = (0..4).map(|_| self.addend(is_float)).collect();
        let results: Vec<String> = (0..4).map(|_| self.register(class)).collect();
        let types = match is_float {
            true => "f32.f16.f16.f32".to_owned(),
            false => {
                let [a, b] = [self.drawn.one_of(&["s8", "u8"]), self.drawn.one_of(&["s8", "u8"])];
                format!("s32.{a}.{b}.s32")
            }
        };
        let list = |names: &[String]| format!("{{{}}}", names.join(", "));
        self.line(&format!(
            "mma.sync.aligned.{shape}.row.col.{types} {}, {}, {}, {}",
            list(&results),
            list(&factors[..left]),
            list(&factors[left..]),
            list(&addends)
        ));
        results.iter().for_each(|name| _ = self.define(name, class, false));
    }

    /// Returns a register of factors.
    fn factor(&mut self, is_float: bool) -> String {
        let value = self.source(Class::B32);
        if !is_float {
            return value.name;
        }
        let halves: Vec<Value> = (0..2)
            .map(|number| {
                let part = self.limited(&value, "shr.u32", 4 * number);
                let part = self.limited(&part, "and.b32", 7);
                let part = self.limited(&part, "sub.s32", 3);
                self.compute(Class::F16, "cvt.rn.f16.s32", &part.name, false)
            })
            .collect();
        self.compute(Class::F16x2, "mov.b32", &format!("{{{}, {}}}", halves[0].name, halves[1].name), false).name
    }

    fn addend(&mut self, is_float: bool) -> String {
        let value = self.source(Class::B32);
        if !is_float {
            return value.name;
        }
        let part = self.limited(&value, "and.b32", 1023);
        self.compute(Class::F32, "cvt.rn.f32.s32", &part.name, false).name
    }
}
