//! Names and declarations of the registers of an edited function.

use super::begins_any_word;
use crate::function::{Function, RegClass, VReg};
use crate::index::EntityIndex;
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::view::View;

/// What a new register's name begins with, by class.
const PREFIXES: [(RegClass, &str, &str); 5] = [
    (RegClass::B1, "%vp", ".pred"),
    (RegClass::B16, "%vh", ".b16"),
    (RegClass::B32, "%vr", ".b32"),
    (RegClass::B64, "%vd", ".b64"),
    (RegClass::B128, "%vq", ".b128"),
];

/// The registers of an edited function.
pub(super) struct Registers {
    /// The name of each register.
    names: Vec<String>,
    /// How many new ones there are of each class, and what their names begin with.
    created: [(String, u32); 5],
    num_old: usize,
}

impl Registers {
    pub(super) fn new(file: &File<'_>, body: &Body, view: &View<'_>, after: &Function) -> Self {
        let text = file.text();
        let free = |prefix: &str| {
            let mut free = prefix.to_owned();
            while begins_any_word(file, body, &free) {
                free.push('_');
            }
            free
        };
        let mut registers = Self {
            names: view.names.ids().map(|reg| text.str(view.names.registers[reg].token).to_owned()).collect(),
            created: PREFIXES.map(|(_, prefix, _)| (prefix.to_owned(), 0)),
            num_old: view.names.len(),
        };
        if after.num_regs() > registers.num_old {
            registers.created.iter_mut().for_each(|(prefix, _)| *prefix = free(prefix));
        }
        for reg in after.regs().skip(registers.num_old) {
            let name = registers.create(after.class(reg));
            registers.names.push(name);
        }
        registers
    }

    /// The name of a new register of a class.
    pub(super) fn create(&mut self, class: RegClass) -> String {
        let at = RegClass::ALL.iter().position(|&other| other == class).unwrap_or(2);
        let (prefix, count) = &mut self.created[at];
        *count += 1;
        format!("{prefix}{}", *count - 1)
    }

    /// The name of a register.
    pub(super) fn name(&self, reg: VReg) -> &str {
        &self.names[reg.index()]
    }

    /// Whether a register is one of the text.
    pub(super) fn is_old(&self, reg: VReg) -> bool {
        reg.index() < self.num_old
    }

    /// The declarations of the new registers.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for ((prefix, count), (_, _, type_name)) in self.created.iter().zip(PREFIXES) {
            if *count > 0 {
                text += &format!("\n\t.reg {type_name} \t{prefix}<{count}>;");
            }
        }
        text
    }
}

/// The type that all instructions take that want a register of the class.
pub(super) fn untyped(class: RegClass) -> &'static str {
    PREFIXES.iter().find(|prefix| prefix.0 == class).map_or(".b32", |prefix| prefix.2)
}
