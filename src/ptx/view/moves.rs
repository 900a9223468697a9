//! Moves, loads and stores, which have LLVM's names in the view, because passes and the forecast read their operands.

use super::operands::Flattener;
use crate::function::{MemorySpace, Operand as ViewOperand, RegClass, Value};
use crate::ptx::parts::{Name, Operand};

/// The flag of volatile accesses in LLVM's loads and stores.
const VOLATILE: i64 = 8;

/// Returns the bits of a type from its word, without the letter for its kind.
fn bits_of(word: &str) -> Option<u32> {
    match word {
        "pred" => Some(1),
        _ if word.len() > 3 => None,
        _ => word.get(1..)?.parse().ok(),
    }
}

impl Flattener<'_, '_, '_> {
    /// Returns LLVM's name of a `mov` without a guard, and adds its operands.
    pub(super) fn move_name(&mut self, mnemonic: &str, operands: &[Operand]) -> Option<String> {
        let bits = bits_of(mnemonic.strip_prefix("mov.")?)?;
        let [to, from] = operands else { return None };
        if let Operand::Vector(parts) = to {
            return self.unpack_name(bits, parts, from);
        }
        let class = self.class_of(to).filter(|class| class.bits() == bits && *class != RegClass::Other)?;
        if let Some(name) = self.frame_address(bits, to, from) {
            return Some(name);
        }
        let name = match from {
            Operand::Vector(parts) => {
                let parts_class = self.same_class(parts)?;
                pack_name(class, parts_class, parts.len())?.to_owned()
            }
            Operand::Number(number) => {
                let value = self.number(number);
                match value {
                    Value::Immediate(_) => format!("MOV_B{bits}_i"),
                    Value::Float(_) if bits >= 32 => format!("MOV_F{bits}_i"),
                    _ => return None,
                }
            }
            Operand::Name(name) if self.class_of(from).is_some() || !self.is_register(name) => {
                match self.class_of(from) {
                    Some(from_class) if from_class == class => format!("MOV_B{bits}_r"),
                    Some(_) => return None,
                    None => self.symbol_name(bits, name)?,
                }
            }
            Operand::Sum { base, .. } if matches!(bits, 32 | 64) && !self.is_register(base) => {
                format!("MOV_B{bits}_sym")
            }
            _ => return None,
        };
        self.operand(to, true);
        self.operand(from, false);
        Some(name)
    }

    /// Returns LLVM's opcode for the address of a stack variable. Its operands are the variable and an offset.
    fn frame_address(&mut self, bits: u32, to: &Operand, from: &Operand) -> Option<String> {
        let (Operand::Name(base) | Operand::Sum { base, .. }) = from else { return None };
        self.context.slot(self.context.file.text().str(base.word)).filter(|_| matches!(bits, 32 | 64))?;
        self.operand(to, true);
        self.base_operands(from);
        Some(if bits == 64 { "LEA_ADDRi64" } else { "LEA_ADDRi" }.to_owned())
    }

    /// Returns LLVM's name of a move of a symbol's address. `None` for a special register.
    fn symbol_name(&mut self, bits: u32, name: &Name) -> Option<String> {
        let word = self.context.file.text().str(name.word);
        if name.part.is_some() || word.starts_with('%') || word == "_" || !matches!(bits, 32 | 64) {
            return None;
        }
        let is_parameter = self.context.parameters.contains(word);
        Some(if is_parameter { format!("MOV{bits}_PARAM") } else { format!("MOV_B{bits}_sym") })
    }

    fn unpack_name(&mut self, bits: u32, parts: &[Operand], from: &Operand) -> Option<String> {
        let class = self.class_of(from).filter(|class| class.bits() == bits)?;
        let is_sink = |this: &Self, operand: &Operand| match operand {
            Operand::Name(name) => this.context.file.text().of(name.word) == b"_",
            _ => false,
        };
        let sinks: Vec<bool> = parts.iter().map(|part| is_sink(self, part)).collect();
        if let ([first, second], &[is_first_lost, is_second_lost]) = (parts, sinks.as_slice())
            && is_first_lost != is_second_lost
        {
            let (kept, half) = if is_first_lost { (second, "H") } else { (first, "L") };
            let parts_class = self.class_of(kept)?;
            if 2 * parts_class.bits() != class.bits() || parts_class == RegClass::B64 {
                return None;
            }
            self.operand(kept, true);
            self.operand(from, false);
            return Some(format!("I{bits}toI{}{half}", parts_class.bits()));
        }
        let parts_class = self.same_class(parts)?;
        let name = match (class, parts_class, parts.len()) {
            (RegClass::B32, RegClass::B16, 2) => "I32toV2I16",
            (RegClass::B64, RegClass::B32, 2) => "I64toV2I32",
            (RegClass::B64, RegClass::B16, 4) => "I64toV4I16",
            (RegClass::B128, RegClass::B64, 2) => "I128toV2I64",
            _ => return None,
        };
        parts.iter().for_each(|part| self.operand(part, true));
        self.operand(from, false);
        Some(name.to_owned())
    }

    /// Returns the class of operands that are all registers of one class.
    fn same_class(&mut self, operands: &[Operand]) -> Option<RegClass> {
        let class = self.class_of(operands.first()?)?;
        operands.iter().all(|operand| self.class_of(operand) == Some(class)).then_some(class)
    }

    /// Returns LLVM's name of a plain load or store without a guard, and adds its operands.
    pub(super) fn access_name(&mut self, mnemonic: &str, operands: &[Operand]) -> Option<String> {
        let mut words = mnemonic.split('.');
        let is_store = match words.next()? {
            "ld" => false,
            "st" => true,
            _ => return None,
        };
        let (mut space, mut order, mut vector, mut typed) = (MemorySpace::Generic, 0, 1, None);
        for word in words {
            match word {
                "weak" => {}
                "volatile" => order = VOLATILE,
                "global" => space = MemorySpace::Global,
                "shared" | "shared::cta" => space = MemorySpace::Shared,
                "shared::cluster" => space = MemorySpace::SharedCluster,
                "local" => space = MemorySpace::Local,
                "const" => space = MemorySpace::Constant,
                "param" => space = MemorySpace::Param,
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                _ => typed = Some((word.starts_with('s'), bits_of(word)?)),
            }
        }
        let (is_signed, width) = typed.filter(|&(_, bits)| [8, 16, 32, 64].contains(&bits))?;
        let (values, address) = match operands {
            [Operand::Address(address), values] if is_store => (values, address),
            [values, Operand::Address(address)] if !is_store => (values, address),
            _ => return None,
        };
        let values: &[Operand] = match values {
            Operand::Vector(values) if values.len() == vector => values,
            value if vector == 1 => std::slice::from_ref(value),
            _ => return None,
        };
        let [base] = address.as_slice() else { return None };
        let is_value = |operand: &Operand| match operand {
            Operand::Name(name) => name.part.is_none(),
            Operand::Number(_) => is_store,
            _ => false,
        };
        let class = values.iter().find_map(|value| self.class_of(value))?.bits().max(16);
        if !values.iter().all(is_value) || class > 64 || class < width.max(16) {
            return None;
        }
        let name = match (is_store, vector) {
            (false, 1) => format!("LD_i{class}"),
            (true, 1) => format!("ST_i{class}"),
            (false, _) => format!("LDV_i{class}_v{vector}"),
            (true, _) => format!("STV_i{class}_v{vector}"),
        };
        values.iter().for_each(|value| self.operand(value, !is_store));
        let space = space as i64;
        let kind = if is_signed && width < class { 1 } else { 3 };
        let described: &[i64] = if is_store {
            &[order, 0, space, i64::from(width)]
        } else {
            &[order, 0, space, kind, i64::from(width), -1]
        };
        described.iter().for_each(|&number| self.inst.push(ViewOperand::immediate(number)));
        self.base_operands(base);
        Some(name)
    }
}

fn pack_name(class: RegClass, parts: RegClass, count: usize) -> Option<&'static str> {
    Some(match (class, parts, count) {
        (RegClass::B32, RegClass::B16, 2) => "V2I16toI32",
        (RegClass::B64, RegClass::B32, 2) => "V2I32toI64",
        (RegClass::B64, RegClass::B16, 4) => "V4I16toI64",
        (RegClass::B128, RegClass::B64, 2) => "V2I64toI128",
        _ => return None,
    })
}
