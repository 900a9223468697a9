//! LLVM's opcodes that correspond to a PTX mnemonic and its operand form.
//!
//! Facts that are derived from the names of LLVM's opcodes therefore also hold for the mnemonics, for example which
//! words of a result equal words of an operand. The operands have the same order; LLVM's opcode may have additional
//! immediates after them.

use std::borrow::Cow;

use super::{PtxOpcode, scalar_type};

/// Special registers and their names in LLVM's opcodes.
const SPECIAL: [(&str, &str); 4] = [("%tid", "TID"), ("%ntid", "NTID"), ("%ctaid", "CTAID"), ("%nctaid", "NCTAID")];

/// Returns LLVM's opcode that is equivalent to a PTX opcode. `None` if the PTX opcode has a predicate, or if LLVM has
/// no equivalent or has the operands in another order.
pub fn equivalent(name: &str) -> Option<String> {
    let opcode = PtxOpcode::of(name).filter(|opcode| !opcode.is_guarded)?;
    if let Some(register) = opcode.form.strip_prefix('%') {
        if register == "laneid" {
            return Some("SREG_LANEID".to_owned());
        }
        let (base, part) = register.split_once('.')?;
        let (_, known) = SPECIAL.iter().find(|(special, _)| special[1..] == *base)?;
        return Some(format!("INT_PTX_SREG_{known}_{part}"));
    }
    let words: Vec<&str> = opcode.mnemonic.split('.').collect();
    let forms = opcode.form.strip_prefix('r')?;
    if !forms.bytes().all(|letter| matches!(letter, b'r' | b'i')) {
        return None;
    }
    let (&last, &base) = (words.last()?, words.first()?);
    if last == "pred" {
        return match base {
            "and" | "or" | "xor" => Some(format!("{}_pred{forms}", base.to_uppercase())),
            "not" => Some("NOT_pred".to_owned()),
            _ => None,
        };
    }
    let (bits, is_integer) = scalar_type(last)?;
    if base == "cvta" {
        return of_addresses(&words, bits).filter(|_| forms == "r");
    }
    let kind = last.as_bytes()[0];
    if is_integer { of_integers(&words, bits, kind, forms) } else { of_floats(&words, bits, forms) }
}

/// Returns the name of LLVM's equivalent opcode. Returns `name` itself if it is LLVM's or has no equivalent.
pub fn as_llvm(name: &str) -> Cow<'_, str> {
    equivalent(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Returns the opcode that converts an address to a generic address, or back.
fn of_addresses(words: &[&str], bits: u32) -> Option<String> {
    let (to, space) = match words {
        ["cvta", "to", space, _] => ("to_", space),
        ["cvta", space, _] => ("", space),
        _ => return None,
    };
    let is_known = ["global", "shared", "const", "local"].contains(space);
    is_known.then(|| format!("cvta_{to}{space}{}", if bits == 64 { "_64" } else { "" }))
}

fn of_integers(words: &[&str], bits: u32, kind: u8, forms: &str) -> Option<String> {
    let (&base, is_signed) = (words.first()?, kind == b's');
    let (sign, letter) = if is_signed { ("S", "s") } else { ("U", "u") };
    let second = words.get(1).copied().unwrap_or_default();
    let is_typed =
        matches!(base, "add" | "sub" | "min" | "max" | "div" | "rem" | "mul" | "mad" | "neg" | "abs" | "bfe");
    if is_typed == (kind == b'b') && base != "setp" && base != "shr" && base != "cvt" {
        return None;
    }
    Some(match (base, words.len()) {
        ("add" | "sub", 2) => format!("{}{bits}{forms}", base.to_uppercase()),
        ("min" | "max", 2) => format!("{sign}{}{bits}{forms}", base.to_uppercase()),
        ("div" | "rem", 2) => format!("{sign}{}{bits}{forms}", base.to_uppercase()),
        ("mul", 3) if second == "lo" => format!("MULT{bits}{forms}"),
        ("mul", 3) if second == "hi" => format!("MUL_HI_{sign}{bits}{forms}"),
        ("mul", 3) if second == "wide" => format!("MUL_WIDE{letter}{bits}_{forms}"),
        ("mad", 3) if second == "lo" => format!("MAD_LO_S{bits}{forms}"),
        ("mad", 3) if second == "wide" => format!("MAD_WIDE_{sign}{bits}{forms}"),
        ("and" | "or" | "xor", 2) => format!("{}_b{bits}{forms}", base.to_uppercase()),
        ("not", 2) => format!("NOT_b{bits}"),
        ("neg" | "abs", 2) if is_signed => format!("{}_S{bits}", base.to_uppercase()),
        ("shl", 2) => format!("SHL{bits}_{forms}"),
        ("shr", 2) => format!("{}{bits}_{forms}", if is_signed { "SRA" } else { "SRL" }),
        ("popc" | "clz", 2) => format!("{}r{bits}", base.to_uppercase()),
        ("bfe", 2) => format!("BFE_{sign}{bits}{forms}"),
        ("prmt", 2) => format!("PRMT_B32{forms}"),
        ("setp", 3) if kind != b'b' || matches!(second, "eq" | "ne") => format!("SETP_i{bits}{forms}"),
        ("selp", 2) => format!("SELP_b{bits}{}", forms.get(..2)?),
        ("cvt", 2..) => conversion(words)?,
        _ => return None,
    })
}

fn of_floats(words: &[&str], bits: u32, forms: &str) -> Option<String> {
    let (&base, rounding) = (words.first()?, words.get(1).copied().unwrap_or_default());
    let is_nearest = rounding == "rn";
    Some(match (base, bits) {
        ("add" | "sub" | "mul", 32 | 64) if words.len() == 2 + usize::from(is_nearest) => {
            format!("F{}{}f{bits}{forms}", base.to_uppercase(), if is_nearest { "_rn" } else { "" })
        }
        ("fma", 32 | 64) if is_nearest && words.len() == 3 => format!("FMA_F{bits}{forms}"),
        ("div", 32) if is_nearest => format!("FDIV32{forms}_prec"),
        ("div", 32) if rounding == "full" => format!("FDIV32{forms}"),
        ("div", 32) if rounding == "approx" => format!("DIV_APPROX_F32_{forms}"),
        ("div", 64) if is_nearest => format!("FDIV64{forms}"),
        ("rcp", 32) if is_nearest => "FRCP32r_prec".to_owned(),
        ("rcp", 64) if is_nearest => "FRCP64r".to_owned(),
        ("sqrt", 32) if is_nearest => "INT_NVVM_SQRT_RN_F".to_owned(),
        ("sqrt", 64) if is_nearest => "INT_NVVM_SQRT_RN_D".to_owned(),
        ("abs" | "neg", 32 | 64) if words.len() == 2 => format!("F{}f{bits}", base.to_uppercase()),
        ("setp", 32 | 64) => format!("SETP_f{bits}{forms}"),
        ("selp", 32 | 64) => format!("SELP_f{bits}{}", forms.get(..2)?),
        ("cvt", _) => conversion(words)?,
        _ => return None,
    })
}

/// Returns the opcode that converts between these two types. The rounding mode is an operand in LLVM.
fn conversion(words: &[&str]) -> Option<String> {
    let [.., to, from] = words else { return None };
    // Saturation is also an operand in LLVM. But the result of a saturating conversion need not have the low bits of
    // the source.
    let is_plain = !words.contains(&"sat");
    (is_plain && scalar_type(to).is_some() && scalar_type(from).is_some()).then(|| format!("CVT_{to}_{from}"))
}
