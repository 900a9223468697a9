//! The body of a kernel or function that is being written: its text, and the values that are defined where it ends.
//!
//! A value is a register that no other statement writes, or a variable that any statement may write. Values of a block
//! end with it; variables are defined ahead of everything. So no path reads a register that was not written.

use std::fmt::Write;

use super::class::Class;
use super::drawn::Drawn;

/// A register that may be read.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) class: Class,
    /// All threads of a block have the same.
    pub(super) is_uniform: bool,
    /// Statements may write it.
    pub(super) is_variable: bool,
}

/// A function that may be called: its parameters, and its result.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) parameters: Vec<Class>,
    pub(super) result: Class,
}

/// What is written where.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) drawn: Drawn,
    pub(super) text: String,
    pub(super) values: Vec<Value>,
    counts: [usize; 10],
    labels: usize,
    /// What names of labels and variables begin with.
    pub(super) name: String,
    /// Bytes of a thread's results that are taken.
    pub(super) slots: usize,
    /// All threads of the block arrive here together.
    pub(super) is_together: bool,
    /// Some threads may have ended.
    pub(super) has_exits: bool,
    /// Loops around.
    pub(super) loops: usize,
    /// Blocks around.
    pub(super) depth: usize,
    /// Statements that may still be written.
    pub(super) left: usize,
    /// How likely each kind of statement is.
    pub(super) weights: Vec<u32>,
    /// It has memory; functions have none.
    pub(super) is_kernel: bool,
    pub(super) callees: Vec<Callee>,
    /// Instructions with known faults of ptxas are written, too.
    pub(super) has_known: bool,
    /// Only values that all threads share are read.
    pub(super) reads_uniform: bool,
}

impl Body {
    pub(super) fn new(drawn: Drawn, name: String) -> Self {
        Self {
            drawn,
            text: String::new(),
            values: Vec::new(),
            counts: [0; 10],
            labels: 0,
            name,
            slots: 0,
            is_together: true,
            has_exits: false,
            loops: 0,
            depth: 0,
            left: 0,
            weights: Vec::new(),
            is_kernel: true,
            callees: Vec::new(),
            has_known: false,
            reads_uniform: false,
        }
    }

    /// Writes an instruction.
    pub(super) fn line(&mut self, text: &str) {
        _ = writeln!(self.text, "\t{text};");
    }

    /// The number of a new label.
    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}_{}", self.name, self.labels)
    }

    pub(super) fn place(&mut self, label: &str) {
        _ = writeln!(self.text, "{label}:");
    }

    /// A new register, which nothing reads until it is [defined](Self::define).
    pub(super) fn register(&mut self, class: Class) -> String {
        let count = &mut self.counts[class as usize];
        *count += 1;
        format!("{}{}", class.prefix(), *count - 1)
    }

    /// From here on, a register may be read.
    pub(super) fn define(&mut self, name: &str, class: Class, is_uniform: bool) -> Value {
        let value = Value { name: name.to_owned(), class, is_uniform, is_variable: false };
        self.values.push(value.clone());
        value
    }

    /// A new value from an instruction with the result left out: `op` is all ahead of it, `sources` all behind.
    pub(super) fn compute(&mut self, class: Class, op: &str, sources: &str, is_uniform: bool) -> Value {
        let name = self.register(class);
        self.line(&format!("{op} {name}, {sources}"));
        self.define(&name, class, is_uniform)
    }

    /// Declarations of all registers.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for class in Class::ALL {
            let count = self.counts[class as usize];
            if count > 0 {
                _ = writeln!(text, "\t.reg .{} {}<{count}>;", class.register_type(), class.prefix());
            }
        }
        text
    }

    /// A constant in a register.
    pub(super) fn constant(&mut self, class: Class, bits: u64) -> Value {
        let name = self.register(class);
        match class {
            Class::Pred => {
                let word = self.register(Class::B32);
                self.line(&format!("mov.b32 {word}, {}", bits & 1));
                self.line(&format!("setp.ne.s32 {name}, {word}, 0"));
            }
            Class::F32 => self.line(&format!("mov.f32 {name}, 0f{bits:08x}")),
            Class::F64 => self.line(&format!("mov.f64 {name}, 0d{bits:016x}")),
            _ => self.line(&format!("mov.{} {name}, 0x{bits:x}", class.bits_type())),
        }
        self.define(&name, class, true)
    }

    /// A value of a class: mostly one of the last, or a constant.
    pub(super) fn source(&mut self, class: Class) -> Value {
        if self.drawn.is(14) {
            let bits = class.constant(&mut self.drawn);
            return self.constant(class, bits);
        }
        self.variable_or_value(class)
    }

    /// The same without new constants.
    pub(super) fn variable_or_value(&mut self, class: Class) -> Value {
        let is_there = |value: &&Value| value.class == class && (value.is_uniform || !self.reads_uniform);
        let all: Vec<Value> = self.values.iter().filter(is_there).cloned().collect();
        if all.is_empty() {
            let bits = class.constant(&mut self.drawn);
            return self.constant(class, bits);
        }
        let last = all.len().saturating_sub(4);
        let at =
            if self.drawn.is(55) { last + self.drawn.below(all.len() - last) } else { self.drawn.below(all.len()) };
        all[at].clone()
    }

    /// A variable of a class, if there is one.
    pub(super) fn variable(&mut self, class: Class) -> Option<Value> {
        let is_it = |value: &&Value| value.class == class && value.is_variable;
        let all: Vec<Value> = self.values.iter().filter(is_it).cloned().collect();
        let at = self.drawn.below(all.len());
        all.get(at).cloned()
    }

    /// Writes a block, whose values end with it. What is known of threads that meet is restored behind it.
    pub(super) fn block(&mut self, write: impl FnOnce(&mut Self)) {
        let (length, is_together) = (self.values.len(), self.is_together);
        self.depth += 1;
        write(self);
        self.keep(length);
        self.depth -= 1;
        self.values.truncate(length);
        self.is_together = is_together && !self.has_exits;
    }

    /// Takes some values of a block into variables, so that they show.
    fn keep(&mut self, from: usize) {
        for _ in 0..self.drawn.below(3) {
            if self.values.len() <= from {
                return;
            }
            let at = self.values.len() - 1 - self.drawn.below((self.values.len() - from).min(6));
            let value = self.values[at].clone();
            let Some(variable) = self.variable(value.class) else { continue };
            let (to, own) = (variable.name, value.name);
            let ty = value.class.bits_type();
            match value.class {
                Class::Pred => self.line(&format!("xor.pred {to}, {to}, {own}")),
                class if class.is_float() || self.drawn.is(40) => self.line(&format!("mov.{ty} {to}, {own}")),
                class if self.drawn.is(50) => self.line(&format!("add.{} {to}, {to}, {own}", class.number_type())),
                _ => self.line(&format!("xor.{ty} {to}, {to}, {own}")),
            }
        }
    }
}
