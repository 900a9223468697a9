//! Memory: each thread reads inputs that no thread writes, and reads and writes separate places.
//!
//! A thread's input has 256 bytes each of integers, of floats, and of doubles, then 64 bytes of halves of each format.
//! Its output has 1 KiB of results, then private bytes that it reads again.

use super::body::{Body, Value};
use super::class::Class;

/// Bytes of a thread's input and of its output.
pub(super) const INPUT: usize = 1024;
pub(super) const OUTPUT: usize = 2048;
/// Offsets of the output's scratch part, and of its part for atomic operations.
const SCRATCH: usize = 1536;
const ATOMIC: usize = 1920;
/// Bytes of results.
const RESULTS: usize = 1024;
/// Bytes of a thread's own local and shared memory.
pub(super) const LOCAL: usize = 128;
pub(super) const SHARED: usize = 64;

/// Operations on places that all threads share, with results that do not depend on the order. Each operation has a
/// separate place.
const MEETINGS: [(&str, Class); 13] = [
    ("add.u32", Class::B32),
    ("add.s32", Class::B32),
    ("min.s32", Class::B32),
    ("max.s32", Class::B32),
    ("min.u32", Class::B32),
    ("max.u32", Class::B32),
    ("and.b32", Class::B32),
    ("or.b32", Class::B32),
    ("xor.b32", Class::B32),
    ("add.u64", Class::B64),
    ("max.s64", Class::B64),
    ("min.u64", Class::B64),
    ("xor.b64", Class::B64),
];

impl Body {
    /// Appends a load of a value of any class, in a common form.
    pub(super) fn load(&mut self, class: Class) -> Value {
        if class == Class::Pred {
            let word = self.load(Class::B32);
            let compared = self.drawn.one_of(&["setp.gt.s32", "setp.ne.u32", "setp.lt.s32"]);
            return self.compute(Class::Pred, compared, &format!("{}, 40", word.name), word.is_uniform);
        }
        let nc = self.drawn.one_of(&["", "", ".nc"]);
        let (start, length) = match class {
            Class::F32 => (256, 256),
            Class::F64 => (512, 256),
            Class::F16 | Class::F16x2 => (768, 64),
            Class::BF16 | Class::BF16x2 => (832, 64),
            _ => (0, 256),
        };
        let bytes = class.bits() as usize / 8;
        let offset = start + bytes * self.drawn.below(length / bytes);
        let is_uniform = self.drawn.is(15);
        // Data that all threads read is far after the data of each thread.
        let at = |offset: usize| match is_uniform {
            true => format!("[%inputs+{}]", (1 << 20) + offset),
            false => format!("[%in+{offset}]"),
        };
        let from = at(offset);
        if class.is_float() {
            return self.compute(class, &format!("ld.global{nc}.{}", class.register_type()), &from, is_uniform);
        }
        if self.drawn.is(35) {
            let width = self.drawn.one_of(&[8, 16, 32, 64].map(|width| width.min(class.bits())));
            let sign = self.drawn.one_of(&["s", "u"]);
            return self.compute(class, &format!("ld.global{nc}.{sign}{width}"), &from, is_uniform);
        }
        // The emulator draws all bits of a word that an operation takes apart.
        let word = self.compute(Class::B32, &format!("ld.global{nc}.b32"), &at(offset & !3), is_uniform);
        let low = self.compute(Class::B32, "prmt.b32", &format!("{}, 0, 0x3210", word.name), is_uniform);
        match class {
            Class::B16 => self.compute(Class::B16, "cvt.u16.u32", &low.name, is_uniform),
            Class::B64 => {
                let high = self.compute(Class::B32, "prmt.b32", &format!("{}, 0, 0x1032", word.name), is_uniform);
                self.compute(Class::B64, "mov.b64", &format!("{{{}, {}}}", low.name, high.name), is_uniform)
            }
            _ => low,
        }
    }

    /// Appends a load within a thread's input, at an index in a register.
    pub(super) fn load_at(&mut self, index: &Value) {
        let index = match index.class {
            Class::B64 => self.compute(Class::B32, "cvt.u32.u64", &index.name, index.is_uniform),
            Class::B16 => self.compute(Class::B32, "cvt.u32.u16", &index.name, index.is_uniform),
            _ => index.clone(),
        };
        let index = match self.drawn.below(6) {
            0 => self.limited(&index, "min.u32", 15),
            1 => self.limited(&index, "rem.u32", 16),
            // The sum wraps.
            2 => {
                let near = self.limited(&index, "or.b32", -16);
                let by = self.drawn.between(16, 24);
                self.limited(&near, "add.s32", by)
            }
            3 => {
                let low = self.limited(&index, "and.b32", 15);
                let far = self.limited(&low, "add.s32", 0x7fff_fff8);
                let by = self.drawn.between(0, 4);
                self.limited(&far, "sub.s32", 0x7fff_fff8 - by)
            }
            _ => self.limited(&index, "and.b32", 15),
        };
        let class =
            self.drawn.weighted(&[(5, Class::B32), (2, Class::B64), (2, Class::F32), (1, Class::F64), (1, Class::B16)]);
        let bytes = i64::from(class.bits() / 8);
        let start = match class {
            Class::F32 => 256,
            Class::F64 => 512,
            _ => 0,
        };
        let sign = self.drawn.one_of(&["s", "u"]);
        let is_uniform = index.is_uniform;
        let offset = match self.drawn.below(4) {
            0 => {
                let wide = self.compute(Class::B64, &format!("cvt.{sign}64.{sign}32"), &index.name, is_uniform);
                self.limited(&wide, "shl.b64", bytes.trailing_zeros().into())
            }
            1 => {
                let scaled = self.limited(&index, "shl.b32", bytes.trailing_zeros().into());
                self.compute(Class::B64, &format!("cvt.{sign}64.{sign}32"), &scaled.name, is_uniform)
            }
            _ => {
                self.compute(Class::B64, &format!("mul.wide.{sign}32"), &format!("{}, {bytes}", index.name), is_uniform)
            }
        };
        let address = self.compute(Class::B64, "add.s64", &format!("%in, {}", offset.name), false);
        let nc = self.drawn.one_of(&["", ".nc"]);
        let from = format!("[{}+{}]", address.name, start + bytes * self.drawn.between(0, 3));
        self.compute(class, &format!("ld.global{nc}.{}", class.register_type()), &from, false);
    }

    /// Appends a load of several values.
    pub(super) fn load_vector(&mut self) {
        let class = self.drawn.one_of(&[Class::B32, Class::B32, Class::F32, Class::B64, Class::B16]);
        let count = if class == Class::B64 { 2 } else { self.drawn.one_of(&[2, 4]) };
        let bytes = count * class.bits() as usize / 8;
        let start = if class == Class::F32 { 256 } else { 0 };
        let offset = start + bytes * self.drawn.below(256 / bytes);
        let names: Vec<String> = (0..count).map(|_| self.register(class)).collect();
        self.line(&format!("ld.global.v{count}.{} {{{}}}, [%in+{offset}]", class.register_type(), names.join(", ")));
        names.iter().for_each(|name| _ = self.define(name, class, false));
    }

    /// Returns unused bytes of a thread's results, if there are any.
    fn slot(&mut self, bytes: usize) -> Option<usize> {
        let at = self.slots.next_multiple_of(bytes.max(8));
        self.slots = at + bytes.max(8);
        (self.slots <= RESULTS).then_some(at)
    }

    /// Appends a store of a value as a result. PTX does not define the bits of a NaN, so the same bits are stored for
    /// every NaN.
    pub(super) fn store(&mut self, value: &Value) {
        if !self.is_kernel {
            return;
        }
        let guard = match self.drawn.is(12) {
            true => format!("@{}{} ", self.drawn.one_of(&["", "!"]), self.variable_or_value(Class::Pred).name),
            false => String::new(),
        };
        let Some(slot) = self.slot(8) else { return };
        let to = format!("[%out+{slot}]");
        let name = &value.name;
        match value.class {
            Class::Pred => {
                let word = self.register(Class::B32);
                self.line(&format!("selp.b32 {word}, 1, 0, {name}"));
                self.line(&format!("{guard}st.global.b32 {to}, {word}"));
            }
            Class::F32 if self.drawn.is(50) => self.line(&format!("{guard}st.global.f32 {to}, {name}")),
            Class::F64 if self.drawn.is(50) => self.line(&format!("{guard}st.global.f64 {to}, {name}")),
            class @ (Class::F32 | Class::F64) => {
                let (nan, bits) =
                    if class == Class::F64 { (0x7ff8 << 48, Class::B64) } else { (0x7fc0_0000_u64, Class::B32) };
                let (is_nan, moved, stored) = (self.register(Class::Pred), self.register(bits), self.register(bits));
                let (ty, moves) = (class.number_type(), bits.bits_type());
                self.line(&format!("setp.nan.{ty} {is_nan}, {name}, {name}"));
                self.line(&format!("mov.{moves} {moved}, {name}"));
                self.line(&format!("selp.{moves} {stored}, 0x{nan:x}, {moved}, {is_nan}"));
                self.line(&format!("{guard}st.global.{moves} {to}, {stored}"));
            }
            class @ (Class::F16 | Class::BF16) => {
                let wide = self.register(Class::F32);
                self.line(&format!("cvt.f32.{} {wide}, {name}", class.number_type()));
                self.line(&format!("{guard}st.global.f32 {to}, {wide}"));
            }
            class @ (Class::F16x2 | Class::BF16x2) => {
                let part = if class == Class::F16x2 { Class::F16 } else { Class::BF16 };
                let parts = [self.register(part), self.register(part)];
                self.line(&format!("mov.b32 {{{}, {}}}, {name}", parts[0], parts[1]));
                for (number, half) in parts.iter().enumerate() {
                    let wide = self.register(Class::F32);
                    self.line(&format!("cvt.f32.{} {wide}, {half}", part.number_type()));
                    self.line(&format!("{guard}st.global.f32 [%out+{}], {wide}", slot + 4 * number));
                }
            }
            class => self.line(&format!("{guard}st.global.{} {to}, {name}", class.bits_type())),
        }
    }

    /// Appends a store of several values.
    pub(super) fn store_vector(&mut self) {
        let class = self.drawn.one_of(&[Class::B32, Class::B32, Class::B64, Class::B16]);
        let count = if class == Class::B64 { 2 } else { self.drawn.one_of(&[2, 4]) };
        let values: Vec<String> = (0..count).map(|_| self.source(class).name).collect();
        let Some(slot) = self.slot(count * class.bits() as usize / 8) else { return };
        self.line(&format!("st.global.v{count}.{} [%out+{slot}], {{{}}}", class.bits_type(), values.join(", ")));
    }

    /// Appends stores of `count` variables.
    pub(super) fn store_variables(&mut self, count: usize) {
        let all: Vec<Value> = self.values.iter().filter(|value| value.is_variable).cloned().collect();
        for _ in 0..count.min(all.len()) {
            let value = all[self.drawn.below(all.len())].clone();
            self.store(&value);
        }
    }

    /// Returns a place within `bytes` bytes, at an index in a register, as a register of 64 or 32 bits.
    fn place_within(&mut self, base: &str, space: usize, bytes: usize, is_wide: bool) -> String {
        if self.drawn.is(35) {
            return format!("{base}+{}", bytes * self.drawn.below(space / bytes));
        }
        let index = self.variable_or_value(Class::B32);
        let mask = space - bytes;
        let low = match self.drawn.is(60) {
            true => self.limited(&index, "and.b32", mask as i64),
            false => {
                let place = self.limited(&index, "and.b32", (space / bytes - 1) as i64);
                self.limited(&place, "mul.lo.u32", bytes as i64)
            }
        };
        let address = if is_wide {
            let wide = self.compute(Class::B64, "cvt.u64.u32", &low.name, false);
            self.compute(Class::B64, "add.s64", &format!("{base}, {}", wide.name), false)
        } else {
            self.compute(Class::B32, "add.s32", &format!("{base}, {}", low.name), false)
        };
        // An address is not a value for statements: PTX does not define addresses of shared and local memory.
        self.values.retain(|value| value.name != address.name);
        address.name
    }

    /// Appends stores to, and loads from, private places. Some of these places may coincide.
    pub(super) fn own_memory(&mut self, memory: &str) {
        let (base, space, is_wide) = match memory {
            "local" => ("%local", LOCAL, true),
            "shared" => ("%shared", SHARED, false),
            _ => ("%scratch", 256, true),
        };
        for _ in 0..self.drawn.between(1, 4) {
            let class = self.drawn.weighted(&[(4, Class::B32), (2, Class::B64), (2, Class::B16)]);
            let width = self.drawn.one_of(&[8, 16, 32, 64].map(|width| width.min(class.bits())));
            let is_store = self.drawn.is(55);
            let value = self.source(class);
            let place = self.place_within(base, space, width as usize / 8, is_wide);
            if is_store {
                self.line(&format!("st.{memory}.b{width} [{place}], {}", value.name));
            } else {
                let sign = self.drawn.one_of(&["s", "u"]);
                self.compute(class, &format!("ld.{memory}.{sign}{width}"), &format!("[{place}]"), false);
            }
        }
    }

    /// Returns the address of a thread's scratch memory.
    pub(super) fn scratch() -> String {
        format!("add.s64 %scratch, %out, {SCRATCH}")
    }

    /// Appends a load from a table of constants.
    pub(super) fn constant_table(&mut self) {
        let index = self.source(Class::B32);
        let low = self.limited(&index, "and.b32", 15);
        let offset = self.compute(Class::B64, "mul.wide.u32", &format!("{}, 4", low.name), index.is_uniform);
        let address = self.register(Class::B64);
        self.line(&format!("add.s64 {address}, %table, {}", offset.name));
        self.compute(Class::B32, "ld.const.u32", &format!("[{address}]"), index.is_uniform);
    }

    /// Appends an atomic operation whose result does not depend on the order.
    pub(super) fn atomic(&mut self) {
        if self.drawn.is(65) {
            let number = self.drawn.below(MEETINGS.len());
            let (op, class) = MEETINGS[number];
            let value = self.source(class);
            let guard = match self.drawn.is(30) {
                true => format!("@{} ", self.variable_or_value(Class::Pred).name),
                false => String::new(),
            };
            let to = 8 * (number + MEETINGS.len() * self.drawn.below(2));
            self.line(&format!("{guard}red.global.{op} [%meeting+{to}], {}", value.name));
            return;
        }
        let is_wide = self.drawn.is(25);
        let class = if is_wide { Class::B64 } else { Class::B32 };
        let (first, second) = (self.source(class), self.source(class));
        let ty = class.bits_type();
        self.line(&format!("st.global.{ty} [%out+{ATOMIC}], {}", first.name));
        let op = match is_wide {
            true => self.drawn.one_of(&["add.u64", "min.s64", "max.u64", "and.b64", "xor.b64", "exch.b64"]),
            false => self
                .drawn
                .one_of(&["add.u32", "min.s32", "max.u32", "or.b32", "exch.b32", "inc.u32", "dec.u32", "cas.b32"]),
        };
        let third = if op == "cas.b32" { format!(", {}", self.source(class).name) } else { String::new() };
        self.compute(class, &format!("atom.global.{op}"), &format!("[%out+{ATOMIC}], {}{third}", second.name), false);
        self.compute(class, &format!("ld.global.{ty}"), &format!("[%out+{ATOMIC}]"), false);
    }
}
