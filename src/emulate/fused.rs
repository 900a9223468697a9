//! Other results that PTX allows. Without a rounding modifier, the assembler may fuse a product and a sum (PTX ISA,
//! `mul` and `add` of floating-point numbers). This module returns PTX modules in which products are fused explicitly;
//! they compute the other results.

use super::types::mixed;
use crate::ptx::{File, Instruction, Module, Operand, Parts, StatementKind, Text};

/// The product with which a sum is fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// The first of two products.
    First,
    /// The second of two products.
    Second,
    /// The first, the second or neither, drawn for each sum from a seed.
    Drawn(u32),
}

/// The preferences with which products are fused: the likely preferences of an assembler, and some drawn choices,
/// because an assembler may decide differently for each sum.
const CHOICES: [Preference; 5] =
    [Preference::First, Preference::Second, Preference::Drawn(1), Preference::Drawn(2), Preference::Drawn(3)];

/// Returns the PTX modules with fused products that may replace a PTX module, without duplicates.
pub fn all_fused(module: &Module<'_>) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for preference in CHOICES {
        texts.extend(fused(module, preference).filter(|text| !texts.contains(text)));
    }
    texts
}

/// Types whose products and sums may be fused, each with the type of its register.
const TYPES: [(&str, &str); 6] =
    [(".f32", ".f32"), (".f64", ".f64"), (".f16", ".b16"), (".f16x2", ".b32"), (".bf16", ".b16"), (".bf16x2", ".b32")];

/// A product that a later sum may absorb.
struct Product<'a> {
    result: &'a str,
    factors: [String; 2],
    names: Vec<&'a str>,
    is_negative: bool,
    kind: Kind<'a>,
}

/// Properties that a product and a sum must share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind<'a> {
    ty: &'a str,
    flushes: bool,
}

/// Returns the PTX module with each sum fused with a product of its block, wherever PTX leaves the rounding open.
/// `None` if there is no such sum. Line numbers stay the same. O(bytes + instructions · products of a block).
pub fn fused(module: &Module<'_>, preference: Preference) -> Option<Vec<u8>> {
    let file = module.file();
    let text = file.text();
    let (mut out, mut copied, mut sums) = (Vec::new(), 0, 0u64);
    for body in module.bodies() {
        let mut products: Vec<Product<'_>> = Vec::new();
        for statement in body.ids() {
            match file.statements().kind(statement) {
                StatementKind::Instruction => {}
                // After a label, registers may have other values. After a declaration, a name may mean another
                // register.
                StatementKind::Label | StatementKind::Variable | StatementKind::Unknown => {
                    products.clear();
                    continue;
                }
                _ => continue,
            }
            let Some(Parts::Instruction(instruction)) = file.parts(statement) else {
                products.clear();
                continue;
            };
            let choice = match preference {
                Preference::Drawn(seed) => {
                    sums += 1;
                    [None, Some(Preference::First), Some(Preference::Second)]
                        [(mixed(u64::from(seed) << 32 | sums) % 3) as usize]
                }
                other => Some(other),
            };
            if let Some(sum) = choice.and_then(|choice| sum(file, &instruction, &products, choice)) {
                let start = text.start(text.skip_trivia(file.statements().first(statement)));
                let end = text.start(file.statements().end(text, statement));
                let lines = text.bytes()[start..end].iter().filter(|&&byte| byte == b'\n').count();
                out.extend_from_slice(&text.bytes()[copied..start]);
                out.extend_from_slice(sum.as_bytes());
                out.extend(std::iter::repeat_n(b'\n', lines));
                copied = end;
            }
            note(text, &instruction, &mut products);
        }
    }
    (copied > 0).then(|| {
        out.extend_from_slice(&text.bytes()[copied..]);
        out
    })
}

/// Removes the products that an instruction changes, and adds the product that it computes.
fn note<'a>(text: &Text<'a>, instruction: &Instruction, products: &mut Vec<Product<'a>>) {
    let word = text.str(instruction.word);
    if word == "call" {
        products.clear();
        return;
    }
    let product = product(text, instruction, products);
    let written = names(text, instruction.results(text));
    products.retain(|known| !written.iter().any(|name| known.names.contains(name) || known.result == *name));
    products.extend(product.filter(|product| !product.names.contains(&product.result)));
}

/// Returns the kind of an instruction if it has no modifiers besides its type and those in `more`.
fn kind<'a>(text: &Text<'a>, instruction: &Instruction, more: &[&str]) -> Option<Kind<'a>> {
    let mut kind = Kind { ty: "", flushes: false };
    for &modifier in &instruction.modifiers {
        match text.str(modifier) {
            ".ftz" => kind.flushes = true,
            ty if TYPES.iter().any(|known| known.0 == ty) && kind.ty.is_empty() => kind.ty = ty,
            other if more.contains(&other) => {}
            _ => return None,
        }
    }
    (!kind.ty.is_empty()).then_some(kind)
}

/// Returns the product that an instruction computes or negates.
fn product<'a>(text: &Text<'a>, instruction: &Instruction, products: &[Product<'a>]) -> Option<Product<'a>> {
    let kind = kind(text, instruction, &[])?;
    if instruction.guard.is_some() {
        return None;
    }
    match (text.str(instruction.word), instruction.operands.as_slice()) {
        ("mul", [Operand::Name(result), left, right]) => {
            let factors = names(text, [left, right].into_iter());
            let written = [written(text, left)?, written(text, right)?];
            let result = text.str(result.word);
            Some(Product { result, factors: written, names: factors, is_negative: false, kind })
        }
        ("neg", [Operand::Name(result), Operand::Name(from)]) => {
            let (result, from) = (text.str(result.word), text.str(from.word));
            let known = products.iter().find(|known| known.result == from && known.kind == kind)?;
            let (factors, names) = (known.factors.clone(), known.names.clone());
            Some(Product { result, factors, names, is_negative: !known.is_negative, kind })
        }
        _ => None,
    }
}

/// Returns a sum fused with one of these products.
fn sum(file: &File<'_>, instruction: &Instruction, products: &[Product<'_>], preference: Preference) -> Option<String> {
    let text = file.text();
    let word = text.str(instruction.word);
    let kind = kind(text, instruction, &[".sat"]).filter(|_| matches!(word, "add" | "sub"))?;
    let [Operand::Name(result), terms @ ..] = instruction.operands.as_slice() else { return None };
    let [left, right] = terms else { return None };
    let of = |term: &Operand| match term {
        Operand::Name(name) if name.part.is_none() => {
            products.iter().find(|known| known.result == text.str(name.word) && known.kind == kind)
        }
        _ => None,
    };
    let (first, second) = (of(left), of(right));
    let is_second = second.is_some() && (first.is_none() || preference == Preference::Second);
    let (product, addend) = if is_second { (second?, left) } else { (first?, right) };
    let is_difference = word == "sub";
    let flips_product = product.is_negative != (is_second && is_difference);
    let flips_addend = !is_second && is_difference;
    let [mut factor, other] = product.factors.clone();
    let mut addend = written(text, addend)?;
    let Kind { ty, flushes } = kind;
    let register = TYPES.iter().find(|known| known.0 == ty)?.1;
    let flush = if flushes { ".ftz" } else { "" };
    let mut ahead = String::new();
    for (flips, value, name) in [(flips_product, &mut factor, "fused__a"), (flips_addend, &mut addend, "fused__c")] {
        if flips {
            ahead += &format!(".reg {register} {name}; neg{flush}{ty} {name}, {value}; ");
            name.clone_into(value);
        }
    }
    let guard = instruction.guard.map_or_else(String::new, |guard| {
        format!("@{}{} ", if guard.is_negated { "!" } else { "" }, text.str(guard.name.word))
    });
    let saturates = instruction.modifiers.iter().any(|&modifier| text.of(modifier) == b".sat");
    let saturate = if saturates { ".sat" } else { "" };
    let result = text.str(result.word);
    Some(format!("{{ {ahead}{guard}fma.rn{flush}{saturate}{ty} {result}, {factor}, {other}, {addend}; }}"))
}

/// Returns the names in operands.
fn names<'a, 'o>(text: &Text<'a>, operands: impl Iterator<Item = &'o Operand>) -> Vec<&'a str> {
    let mut words = Vec::new();
    operands.for_each(|operand| operand.add_words(&mut words));
    words.into_iter().map(|word| text.str(word)).collect()
}

/// Returns a register or number as in the PTX file.
fn written(text: &Text<'_>, operand: &Operand) -> Option<String> {
    match operand {
        Operand::Name(name) if name.part.is_none() => Some(text.str(name.word).to_owned()),
        Operand::Number(number) => {
            let sign = if number.is_negative { "-" } else { "" };
            Some(format!("{sign}{}", text.str(number.digits)))
        }
        _ => None,
    }
}

/// Instructions whose results PTX defines up to an error, or without an order of summation.
const APPROXIMATE: [&str; 8] = ["ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "mma", "wgmma"];

/// Whether a PTX module has instructions without exact results: approximate functions, floating-point matrix products,
/// and floating-point reductions in memory, whose order is open.
pub fn approximates(module: &Module<'_>) -> bool {
    let file = module.file();
    let text = file.text();
    let is_so = |instruction: &Instruction| {
        let has = |names: &[&str]| instruction.modifiers.iter().any(|&modifier| names.contains(&text.str(modifier)));
        let is_float = instruction.modifiers.iter().any(|&modifier| {
            let word = text.str(modifier);
            TYPES.iter().any(|known| known.0 == word) || matches!(word, ".tf32" | ".e4m3" | ".e5m2")
        });
        match text.str(instruction.word) {
            "atom" | "red" => is_float,
            "wmma" | "tcgen05" => true,
            word => has(&[".approx", ".full"]) || APPROXIMATE.contains(&word) && is_float,
        }
    };
    module
        .bodies()
        .iter()
        .flat_map(|body| body.ids())
        .any(|statement| matches!(file.parts(statement), Some(Parts::Instruction(instruction)) if is_so(&instruction)))
}
