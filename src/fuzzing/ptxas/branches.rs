//! Branches, branch tables, exits of threads, and calls.

use super::body::{Body, Value};
use super::class::Class;
use super::tables::COMPARISONS;

impl Body {
    /// Returns a predicate, mostly that of a new comparison.
    pub(super) fn comparison(&mut self) -> Value {
        if self.drawn.is(70) {
            self.instruction(COMPARISONS);
        }
        self.variable_or_value(Class::Pred)
    }

    /// Appends a branch over a block, with or without another block for the other threads.
    pub(super) fn branch(&mut self) {
        let condition = self.comparison();
        let (other, end) = (self.label(), self.label());
        let not = self.drawn.one_of(&["", "!"]);
        let is_uniform = condition.is_uniform && self.is_together;
        let uni = if is_uniform && self.drawn.is(60) { ".uni" } else { "" };
        self.line(&format!("@{not}{} bra{uni} {other}", condition.name));
        self.block(|body| {
            body.is_together &= is_uniform;
            body.statements(4);
        });
        if self.drawn.is(55) {
            self.line(&format!("bra{uni} {end}"));
            self.place(&other);
            self.block(|body| {
                body.is_together &= is_uniform;
                body.statements(4);
            });
        } else {
            self.place(&other);
        }
        self.place(&end);
    }

    /// Appends a branch by a table, whose blocks may fall through to the next.
    pub(super) fn switch(&mut self) {
        let count = self.drawn.between(2, 6);
        let value = self.source(Class::B32);
        let index = match self.drawn.below(3) {
            0 => self.limited(&value, "min.u32", count - 1),
            1 => self.limited(&value, "rem.u32", count),
            _ => {
                let mask = if count >= 4 { 3 } else { 1 };
                self.limited(&value, "and.b32", mask)
            }
        };
        let is_uniform = index.is_uniform && self.is_together;
        let uni = if is_uniform && self.drawn.is(50) { ".uni" } else { "" };
        let labels: Vec<String> = (0..count).map(|_| self.label()).collect();
        let (table, end) = (self.label(), self.label());
        self.text += &format!("{table}: .branchtargets {};\n", labels.join(", "));
        self.line(&format!("brx.idx{uni} {}, {table}", index.name));
        for label in &labels {
            self.place(label);
            self.block(|body| {
                body.is_together &= is_uniform;
                body.statements(2);
            });
            if self.drawn.is(75) {
                self.line(&format!("bra{uni} {end}"));
            }
        }
        self.place(&end);
    }

    /// Appends an exit of some threads.
    pub(super) fn early_exit(&mut self) {
        let condition = self.comparison();
        self.store_variables(2);
        let (not, end) = (self.drawn.one_of(&["", "!"]), self.drawn.one_of(&["exit", "ret"]));
        self.line(&format!("@{not}{} {end}", condition.name));
        self.has_exits = true;
        self.is_together = false;
    }

    /// Appends a call of a function.
    pub(super) fn call(&mut self) {
        let at = self.drawn.below(self.callees.len());
        let Some(callee) = self.callees.get(at).cloned() else { return };
        let arguments: Vec<Value> = callee.parameters.iter().map(|&class| self.source(class)).collect();
        let label = self.label();
        let name = |number: usize| format!("{label}_{number}");
        self.text += "\t{\n";
        for (number, argument) in arguments.iter().enumerate() {
            let ty = argument.class.bits_type();
            self.line(&format!(".param .{ty} {}", name(number)));
            self.line(&format!("st.param.{ty} [{}], {}", name(number), argument.name));
        }
        let ty = callee.result.bits_type();
        self.line(&format!(".param .{ty} {label}_r"));
        let names: Vec<String> = (0..arguments.len()).map(name).collect();
        let uni = if self.is_together { ".uni" } else { "" };
        self.line(&format!("call{uni} ({label}_r), {}, ({})", callee.name, names.join(", ")));
        let result = self.register(callee.result);
        self.line(&format!("ld.param.{ty} {result}, [{label}_r]"));
        self.text += "\t}\n";
        self.define(&result, callee.result, false);
    }
}
