//! Registers of an instruction, and the sources of their values.

use std::fmt::Write;

/// Returns the bits of a type in a mnemonic.
fn type_bits(word: &str) -> Option<u32> {
    Some(match word {
        "pred" => 1,
        "s8" | "u8" | "b8" | "s16" | "u16" | "b16" | "f16" | "bf16" | "e4m3x2" | "e5m2x2" => 16,
        "s32" | "u32" | "b32" | "f32" | "tf32" | "f16x2" | "bf16x2" | "s16x2" | "u16x2" => 32,
        "s64" | "u64" | "b64" | "f64" => 64,
        _ => return None,
    })
}

/// Returns the types in a mnemonic.
pub(super) fn types(mnemonic: &str) -> Vec<&str> {
    mnemonic.split('.').filter(|word| type_bits(word).is_some()).collect()
}

fn class_of(bits: u32) -> char {
    match bits {
        1 => 'p',
        16 => 'h',
        32 => 'r',
        _ => 'd',
    }
}

/// The limit of a register's value, as the instruction that enforces it: mnemonic and second operand.
pub(super) type Limit = (&'static str, u32);

/// Replaces the classes `%t`, `%u`, `%w` and `%z` in an instruction's registers. The second part has the registers with
/// limited values: an instruction and a constant for each.
pub(super) fn resolved(text: &str) -> (String, Vec<(String, Limit)>) {
    let mut limits = Vec::new();
    let parts = text.split(';').map(str::trim).map(|part| {
        let mnemonic = part.split(' ').next().unwrap_or_default();
        let bits: Vec<u32> = types(mnemonic).into_iter().filter_map(type_bits).collect();
        let (first, last) = (bits.first().copied().unwrap_or(32), bits.last().copied().unwrap_or(32));
        let class = |letter: char| match letter {
            't' | 'z' => class_of(last),
            'u' => class_of(first),
            'w' => class_of(2 * last),
            'm' | 'b' => 'r',
            other => other,
        };
        let mut resolved = String::new();
        let mut rest = part;
        while let Some(at) = rest.find('%') {
            let letter = rest[at + 1..].chars().next().unwrap_or('r');
            let digits = rest[at + 2..].chars().take_while(char::is_ascii_digit).count();
            let register = format!("%{}{}", class(letter), &rest[at + 2..at + 2 + digits]);
            resolved += &rest[..at];
            resolved += &register;
            let limit = match letter {
                'z' => Some(("or", 1)),
                'm' => Some(("and", 31)),
                'b' => Some(("and", 255)),
                _ => None,
            };
            limits.extend(limit.map(|limit| (register, limit)));
            rest = &rest[at + 2 + digits..];
        }
        resolved + rest
    });
    (parts.collect::<Vec<_>>().join("; "), limits)
}

/// Returns the registers in a text, each once, in order.
pub(super) fn registers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices('%') {
        let digits = text[at + 2..].chars().take_while(char::is_ascii_digit).count();
        let register = text[at..at + 2 + digits].to_owned();
        if digits > 0 && !found.contains(&register) {
            found.push(register);
        }
    }
    found
}

/// Returns the results of instructions: the first operand of each.
pub(super) fn results(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split(';').map(str::trim) {
        let operands = part.split_once(' ').map_or("", |(_, operands)| operands).trim();
        let end = operands.find('}').filter(|_| operands.starts_with('{')).or_else(|| operands.find(','));
        for register in registers(&operands[..end.unwrap_or(operands.len())]) {
            if !found.contains(&register) {
                found.push(register);
            }
        }
    }
    found
}

/// The source of an operand's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Loaded as a number of its type.
    Loaded,
    /// Loaded as bits, all of which are random.
    Bits,
    /// A constant.
    Constant(u64),
    /// A parameter, the same in all threads.
    Parameter,
    /// The negative of a loaded value.
    Negated,
    /// The absolute value of a loaded value.
    Absolute,
}

/// Returns the PTX type of a class, for moves.
pub(super) fn type_of(class: char) -> &'static str {
    match class {
        'p' => "pred",
        'h' => "b16",
        'r' => "b32",
        _ => "b64",
    }
}

/// Writes statements that give a register its value. Loads are at `[%in+at]`, with eight bytes each; `ty` is the type
/// of sign changes, and `number` selects the parameter.
pub(super) fn source(text: &mut String, register: &str, way: Way, at: usize, ty: &str, number: usize) {
    let class = register.as_bytes()[1] as char;
    let name = &register[1..];
    let number = number % 3;
    _ = match (class, way) {
        ('p', Way::Constant(value)) => {
            writeln!(text, "mov.b32 %x{name}, {}; setp.ne.b32 {register}, %x{name}, 0;", value & 1)
        }
        ('p', Way::Parameter) => {
            writeln!(text, "ld.param.b32 %x{name}, [w{number}]; setp.gt.s32 {register}, %x{name}, 40;")
        }
        ('p', Way::Bits) => writeln!(
            text,
            "ld.global.b32 %x{name}, [%in+{at}]; and.b32 %x{name}, %x{name}, 1; setp.ne.s32 {register}, %x{name}, 0;"
        ),
        ('p', _) => writeln!(text, "ld.global.b32 %x{name}, [%in+{at}]; setp.gt.s32 {register}, %x{name}, 48;"),
        (_, Way::Constant(value)) => {
            let (ty, digits) = (
                type_of(class),
                match class {
                    'h' => 4,
                    'r' => 8,
                    _ => 16,
                },
            );
            let value = if digits == 16 { value } else { value & ((1 << (4 * digits)) - 1) };
            writeln!(text, "mov.{ty} {register}, 0x{value:x};")
        }
        ('h', Way::Parameter) => writeln!(text, "ld.param.b16 {register}, [w{number}];"),
        ('r', Way::Parameter) => writeln!(text, "ld.param.b32 {register}, [w{number}];"),
        (_, Way::Parameter) => writeln!(text, "ld.param.b64 {register}, [l{number}];"),
        // A permutation that changes nothing takes a word apart. The emulator therefore draws all bits of the word.
        ('h', Way::Bits) => writeln!(
            text,
            "ld.global.b32 %x{name}, [%in+{at}]; prmt.b32 %x{name}, %x{name}, 0, 0x3210; cvt.u16.u32 {register}, %x{name};"
        ),
        ('r', Way::Bits) => {
            writeln!(text, "ld.global.b32 %x{name}, [%in+{at}]; prmt.b32 {register}, %x{name}, 0, 0x3210;")
        }
        (_, Way::Bits) => {
            let high = at + 4;
            writeln!(
                text,
                "ld.global.b32 %x{name}, [%in+{at}]; ld.global.b32 %y{name}, [%in+{high}]; \
                 prmt.b32 %x{name}, %x{name}, 0, 0x3210; prmt.b32 %y{name}, %y{name}, 0, 0x3210; \
                 mov.b64 {register}, {{%x{name}, %y{name}}};"
            )
        }
        (_, way) => {
            let loaded = format!("ld.global.{} {register}, [%in+{at}];", type_of(class));
            match way {
                Way::Negated => writeln!(text, "{loaded} neg.{ty} {register}, {register};"),
                Way::Absolute => writeln!(text, "{loaded} abs.{ty} {register}, {register};"),
                _ => writeln!(text, "{loaded}"),
            }
        }
    };
}
