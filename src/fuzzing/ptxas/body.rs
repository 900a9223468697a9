//! The body of a kernel or function under construction: its PTX statements, and the values that are defined at its end.
//!
//! A value is a register with one definition, or a variable that any statement may write. Values of a block end with
//! the block; variables are defined before all other statements. Therefore no path reads an unwritten register.

use std::fmt::Write;

use super::class::Class;
use super::drawn::Drawn;

/// A readable register.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) class: Class,
    /// Whether all threads of a block have the same value.
    pub(super) is_uniform: bool,
    /// Whether statements may write it.
    pub(super) is_variable: bool,
}

/// A callable function: its parameters and its result.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) parameters: Vec<Class>,
    pub(super) result: Class,
}

/// The state of the body at the current position.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) drawn: Drawn,
    pub(super) text: String,
    pub(super) values: Vec<Value>,
    counts: [usize; 10],
    labels: usize,
    /// Prefix of the names of labels and variables.
    pub(super) name: String,
    /// Used bytes of a thread's results.
    pub(super) slots: usize,
    /// Whether all threads of the block arrive here together.
    pub(super) is_together: bool,
    /// Whether some threads may have ended.
    pub(super) has_exits: bool,
    /// Number of enclosing loops.
    pub(super) loops: usize,
    /// Number of enclosing blocks.
    pub(super) depth: usize,
    /// Remaining number of statements.
    pub(super) left: usize,
    /// The weight of each kind of statement.
    pub(super) weights: Vec<u32>,
    /// Whether it is a kernel. Functions have no memory.
    pub(super) is_kernel: bool,
    pub(super) callees: Vec<Callee>,
    /// Whether instructions with known ptxas faults are included.
    pub(super) has_known: bool,
    /// Whether only values that all threads share are read.
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

    /// Appends an instruction.
    pub(super) fn line(&mut self, text: &str) {
        _ = writeln!(self.text, "\t{text};");
    }

    /// Returns the number of a new label.
    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}_{}", self.name, self.labels)
    }

    pub(super) fn place(&mut self, label: &str) {
        _ = writeln!(self.text, "{label}:");
    }

    /// Creates a register, which no statement reads until it is [defined](Self::define).
    pub(super) fn register(&mut self, class: Class) -> String {
        let count = &mut self.counts[class as usize];
        *count += 1;
        format!("{}{}", class.prefix(), *count - 1)
    }

    /// Makes a register readable from here on.
    pub(super) fn define(&mut self, name: &str, class: Class, is_uniform: bool) -> Value {
        let value = Value { name: name.to_owned(), class, is_uniform, is_variable: false };
        self.values.push(value.clone());
        value
    }

    /// Appends an instruction with a new result: `op` is the part before the result, `sources` the part after it.
    pub(super) fn compute(&mut self, class: Class, op: &str, sources: &str, is_uniform: bool) -> Value {
        let name = self.register(class);
        self.line(&format!("{op} {name}, {sources}"));
        self.define(&name, class, is_uniform)
    }

    /// Returns the declarations of all registers.
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

    /// Appends a constant in a register.
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

    /// Returns a value of a class: mostly one of the latest, or a constant.
    pub(super) fn source(&mut self, class: Class) -> Value {
        if self.drawn.is(14) {
            let bits = class.constant(&mut self.drawn);
            return self.constant(class, bits);
        }
        self.variable_or_value(class)
    }

    /// Returns a value of a class like [`Self::source`], but creates no constants.
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

    /// Returns a variable of a class, if there is one.
    pub(super) fn variable(&mut self, class: Class) -> Option<Value> {
        let is_it = |value: &&Value| value.class == class && value.is_variable;
        let all: Vec<Value> = self.values.iter().filter(is_it).cloned().collect();
        let at = self.drawn.below(all.len());
        all.get(at).cloned()
    }

    /// Appends a block, whose values end with it. The state of convergence is restored after it.
    pub(super) fn block(&mut self, write: impl FnOnce(&mut Self)) {
        let (length, is_together) = (self.values.len(), self.is_together);
        self.depth += 1;
        write(self);
        self.keep(length);
        self.depth -= 1;
        self.values.truncate(length);
        self.is_together = is_together && !self.has_exits;
    }

    /// Copies some values of a block into variables, so that they affect the results.
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
