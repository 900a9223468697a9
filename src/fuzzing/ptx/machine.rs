//! Runs one thread of a PTX program and returns its stores. It reads statements and does not use views.

use std::collections::BTreeMap;

use crate::fuzzing::value::mix;
use crate::ptx::{File, Instruction, Name, Number, Operand, Parts, Statement, StatementKind, Text};

/// A program with more steps counts as endless.
const MOST_STEPS: usize = 20_000;

/// Addresses of shared and local variables.
const SHARED: u64 = 1 << 40;
const LOCAL: u64 = 1 << 41;

/// Address of the program's own shared memory, whose addresses have 32 bits.
const OWN_SHARED: u64 = 1 << 42;

struct Machine<'t, 'a> {
    text: &'t Text<'a>,
    /// Registers of each scope, the function's first.
    scopes: Vec<BTreeMap<String, u64>>,
    /// Names that each scope declares: single names, and prefixes of families.
    declared: Vec<Vec<(String, bool)>>,
    memory: BTreeMap<u64, u32>,
    stores: Stores,
    seed: u64,
}

/// Stores with their values, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stores {
    global: Vec<(u64, u32)>,
    /// Stores to the program's own shared memory. They are not ordered with the others.
    shared: Vec<(u64, u32)>,
    /// Whether the program exceeded its steps.
    pub(super) is_cut: bool,
}

/// Returns the stores of the function in a PTX module.
pub(super) fn run(text: &str, seed: u64) -> Stores {
    let file = File::read("-", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let statements: Vec<Statement> = file.statements().ids().collect();
    let mut labels = BTreeMap::new();
    for (at, &statement) in statements.iter().enumerate() {
        if file.statements().kind(statement) == StatementKind::Label {
            labels.insert(file.first_word(statement), at);
        }
    }
    let mut machine = Machine {
        text: file.text(),
        scopes: Vec::new(),
        declared: Vec::new(),
        memory: BTreeMap::new(),
        stores: Stores::default(),
        seed,
    };
    let (mut at, mut steps) = (0, 0);
    while at < statements.len() && steps < MOST_STEPS {
        steps += 1;
        let statement = statements[at];
        at += 1;
        match file.statements().kind(statement) {
            StatementKind::Open => {
                machine.scopes.push(BTreeMap::new());
                machine.declared.push(Vec::new());
            }
            StatementKind::Close => {
                machine.scopes.pop();
                machine.declared.pop();
            }
            StatementKind::Variable => machine.declare(&file, statement),
            StatementKind::Instruction => {
                let Some(Parts::Instruction(instruction)) = file.parts(statement) else {
                    panic!("{}", String::from_utf8_lossy(file.bytes_of(statement)))
                };
                match machine.step(&instruction) {
                    Next::Goes => {}
                    Next::Ends => break,
                    Next::Jumps(label) => at = labels[label.as_str()],
                }
            }
            _ => {}
        }
    }
    machine.stores.is_cut = steps == MOST_STEPS;
    machine.stores
}

enum Next {
    Goes,
    Ends,
    Jumps(String),
}

impl Machine<'_, '_> {
    fn declare(&mut self, file: &File<'_>, statement: Statement) {
        let Some(Parts::Declaration(declaration)) = file.parts(statement) else { return };
        let Some(names) = self.declared.last_mut() else { return };
        for declarator in &declaration.declarators {
            let name = declarator.name.map(|name| file.text().str(name).to_owned()).unwrap_or_default();
            names.push((name, declarator.count.is_some()));
        }
    }

    /// Returns the scope that declares a register of this name.
    fn scope_of(&self, name: &str) -> usize {
        let bare = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
        let has = |names: &Vec<(String, bool)>| {
            names.iter().any(|(declared, is_family)| if *is_family { declared == bare } else { declared == name })
        };
        self.declared.iter().rposition(has).unwrap_or_else(|| panic!("{name} is not declared"))
    }

    fn name(&self, name: &Name) -> String {
        let part = name.part.map(|part| self.text.str(part)).unwrap_or_default();
        format!("{}{part}", self.text.str(name.word))
    }

    fn set(&mut self, operand: &Operand, value: u64) {
        let Operand::Name(name) = operand else { panic!("{operand:?} is written") };
        let name = self.name(name);
        let scope = self.scope_of(&name);
        self.scopes[scope].insert(name, value);
    }

    fn number(&self, number: &Number) -> u64 {
        let value: i64 = self.text.str(number.digits).parse().expect("programs have decimal numbers");
        (if number.is_negative { -value } else { value }) as u64
    }

    fn word(&self, name: &Name) -> u64 {
        let name = self.name(name);
        match name.as_str() {
            "%tid.x" => 5,
            "%tid.y" | "%tid.z" => 0,
            "%nctaid.z" => 3,
            "k_param_0" => 0,
            "k_param_1" => 77,
            // Each run of a pass adds an array with one more underscore.
            _ if name.starts_with("nvptx_ra_spills") => SHARED + ((name.len() as u64) << 20),
            _ if name.starts_with("nvptx_ra_local") => LOCAL + ((name.len() as u64) << 20),
            _ => {
                let scope = self.scope_of(&name);
                // An uninitialised register may have any value. Here its value depends on its name.
                let unknown = name.bytes().fold(self.seed, |hash, byte| mix(hash, u64::from(byte)));
                self.scopes[scope].get(&name).copied().unwrap_or(unknown)
            }
        }
    }

    fn value(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Name(name) => self.word(name),
            Operand::Number(number) => self.number(number),
            Operand::Sum { base, sign, offset } => {
                let offset = self.number(offset);
                let base = self.word(base);
                if *sign == b'-' { base.wrapping_sub(offset) } else { base.wrapping_add(offset) }
            }
            other => panic!("{other:?} has no value"),
        }
    }

    fn step(&mut self, instruction: &Instruction) -> Next {
        if let Some(guard) = &instruction.guard
            && (self.word(&guard.name) & 1 == 1) == guard.is_negated
        {
            return Next::Goes;
        }
        let mnemonic = instruction.mnemonic(self.text);
        let base = mnemonic.split('.').next().unwrap_or_default().to_owned();
        let operands = &instruction.operands;
        match base.as_str() {
            "ret" => return Next::Ends,
            "bra" => {
                let Some(Operand::Name(label)) = operands.first() else { panic!("a label") };
                return Next::Jumps(self.name(label));
            }
            "ld" | "st" => self.access(&mnemonic, operands),
            "setp" => {
                let (one, other) = (self.value(&operands[1]) as u32, self.value(&operands[2]) as u32);
                let order = if mnemonic.ends_with("u32") { one.cmp(&other) } else { (one as i32).cmp(&(other as i32)) };
                let is_true = match mnemonic.split('.').nth(1) {
                    Some("eq") => order.is_eq(),
                    Some("ne") => order.is_ne(),
                    Some("lt") => order.is_lt(),
                    Some("le") => order.is_le(),
                    Some("gt") => order.is_gt(),
                    _ => order.is_ge(),
                };
                self.set(&operands[0], u64::from(is_true));
            }
            _ => {
                let values: Vec<u64> = operands[1..].iter().map(|operand| self.value(operand)).collect();
                let value = match (base.as_str(), values.as_slice()) {
                    ("mov", [value]) => *value,
                    ("add", [one, other]) => one.wrapping_add(*other),
                    ("xor", [one, other]) => one ^ other,
                    ("shr", [one, other]) if mnemonic.ends_with("s32") => (*one as i32 >> other) as u64,
                    ("shr", [one, other]) => one >> other,
                    ("shl", [one, other]) => one << other,
                    ("and", [one, other]) => one & other,
                    ("or", [one, other]) => one | other,
                    ("sub", [one, other]) => one.wrapping_sub(*other),
                    ("cvt", [one]) if mnemonic == "cvt.s64.s32" => i64::from(*one as i32) as u64,
                    ("mul", [one, other]) if mnemonic == "mul.wide.s32" => {
                        (i64::from(*one as i32) * i64::from(*other as i32)) as u64
                    }
                    ("mul", [one, other]) => one.wrapping_mul(*other),
                    ("mad", [one, other, third]) => one.wrapping_mul(*other).wrapping_add(*third),
                    _ => panic!("{mnemonic} is in no program"),
                };
                let is_wide = mnemonic.ends_with("64")
                    || matches!(mnemonic.as_str(), "mul.wide.u32" | "mul.wide.s32" | "cvt.s64.s32");
                let is_wide = is_wide || value >> 40 == 1 || value >> 41 == 1;
                self.set(&operands[0], if is_wide { value } else { u64::from(value as u32) });
            }
        }
        Next::Goes
    }

    fn access(&mut self, mnemonic: &str, operands: &[Operand]) {
        let is_store = mnemonic.starts_with("st");
        let (values, address) = if is_store { (&operands[1], &operands[0]) } else { (&operands[0], &operands[1]) };
        let Operand::Address(address) = address else { panic!("an address") };
        let address = self.value(&address[0]);
        let is_own_shared = mnemonic.contains(".shared") && address >> 40 != 1;
        let address = if is_own_shared { OWN_SHARED + u64::from(address as u32) } else { address };
        let values = match values {
            Operand::Vector(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for (number, value) in values.iter().enumerate() {
            let place = address.wrapping_add(4 * number as u64);
            if is_store {
                let value = self.value(value) as u32;
                self.memory.insert(place, value);
                if mnemonic.contains("global") {
                    self.stores.global.push((place, value));
                } else if is_own_shared {
                    self.stores.shared.push((place, value));
                }
            } else if mnemonic.contains("param") {
                self.set(value, address);
            } else {
                let loaded = self.memory.get(&place).copied().unwrap_or_else(|| mix(self.seed, place) as u32);
                self.set(value, u64::from(loaded));
            }
        }
    }
}
