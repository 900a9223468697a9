//! The names of registers, and the registers of the view that they stand for.

use rustc_hash::FxHashMap;

use crate::function::{RegClass, VReg};
use crate::index::{EntityIndex, IndexVec};
use crate::ptx::file::File;
use crate::ptx::parts::{Declaration, Specifier};
use crate::ptx::token::Token;

/// A declaration of registers in a function.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx) struct Declared {
    /// The word of the type.
    pub(in crate::ptx) type_word: Token,
    pub(in crate::ptx) class: RegClass,
}

/// A register of the view, as it is declared in PTX.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx) struct RegisterName {
    /// A token with the register's name.
    pub(in crate::ptx) token: Token,
    /// The number of the register's declaration.
    pub(in crate::ptx) declaration: u32,
}

/// The meaning of a name in a function or scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum NameMeaning {
    /// A register of the function.
    Register(VReg),
    /// Another meaning: a variable, a label, a special register.
    Other,
}

/// The registers of a function. A family of a million registers takes no memory until its names occur.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Names<'a> {
    /// Declarations of single names, and of the prefixes of families.
    singles: FxHashMap<&'a str, u32>,
    families: FxHashMap<&'a str, (u32, u32)>,
    pub(in crate::ptx) declarations: Vec<Declared>,
    known: FxHashMap<&'a str, VReg>,
    pub(in crate::ptx) registers: IndexVec<VReg, RegisterName>,
}

impl<'a> Names<'a> {
    /// Adds a declaration of registers. `Err` if the declaration is not understood.
    pub(in crate::ptx) fn declare(&mut self, file: &File<'a>, declaration: &Declaration) -> Result<(), ()> {
        let text = file.text();
        let is_vector = declaration.words(text).any(|word| matches!(word, ".v2" | ".v4" | ".v8"));
        let type_name = declaration.type_name(text);
        let is_type = |word: &Token| text.str(*word) == type_name;
        let words = declaration.specifiers.iter().filter_map(|specifier| match specifier {
            Specifier::Word(word) => Some(*word),
            _ => None,
        });
        let type_word = words.into_iter().find(is_type).ok_or(())?;
        let class = if is_vector { RegClass::Other } else { class_of(type_name) };
        let number = self.declarations.len() as u32;
        self.declarations.push(Declared { type_word, class });
        for declarator in &declaration.declarators {
            let name = text.str(declarator.name.ok_or(())?);
            match declarator.count {
                Some(count) => {
                    let count = text.str(count).parse().map_err(|_| ())?;
                    self.families.insert(name, (number, count));
                }
                None => _ = self.singles.insert(name, number),
            }
        }
        Ok(())
    }

    /// Returns the register with a name, if the function declares it.
    pub(in crate::ptx) fn register(&mut self, name: &'a str, token: Token) -> Option<VReg> {
        if let Some(&known) = self.known.get(name) {
            return Some(known);
        }
        let declaration = self.declaration(name)?;
        let reg = self.registers.push(RegisterName { token, declaration });
        self.known.insert(name, reg);
        Some(reg)
    }

    /// Returns the number of the declaration of a name.
    pub(in crate::ptx) fn declaration(&self, name: &str) -> Option<u32> {
        if let Some(&number) = self.singles.get(name) {
            return Some(number);
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).find_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            let &(declaration, count) = self.families.get(prefix)?;
            let is_plain = number == "0" || !number.starts_with('0');
            (is_plain && number.parse().is_ok_and(|number: u32| number < count)).then_some(declaration)
        })
    }

    /// Returns the class of a register.
    pub(in crate::ptx) fn class(&self, reg: VReg) -> RegClass {
        self.declarations[self.registers[reg].declaration as usize].class
    }

    /// Returns the number of registers that occur.
    pub(in crate::ptx) fn len(&self) -> usize {
        self.registers.ids().len()
    }

    /// Returns the registers, in the order of their first occurrence.
    pub(in crate::ptx) fn ids(&self) -> impl Iterator<Item = VReg> + use<'a> {
        (0..self.len()).map(VReg::new)
    }
}

/// Returns the register class of a type.
pub(in crate::ptx) fn class_of(type_name: &str) -> RegClass {
    match type_name {
        ".pred" => RegClass::B1,
        ".f16x2" | ".bf16x2" | ".tf32" => RegClass::B32,
        ".bf16" => RegClass::B16,
        ".f32x2" => RegClass::B64,
        _ => match type_name.get(2..).unwrap_or_default() {
            "16" => RegClass::B16,
            "32" => RegClass::B32,
            "64" => RegClass::B64,
            "128" => RegClass::B128,
            _ => RegClass::Other,
        },
    }
}
