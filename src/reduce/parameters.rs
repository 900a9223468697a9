//! Removes parameters: a load of a known parameter becomes a constant, and a parameter without loads is removed.

use super::candidate::Candidate;
use super::statements::{bare, instructions};
use std::ops::Range;

use crate::ptx::{Declaration, Module, Operand, Token, TokenKind};

/// Returns the candidate with known parameters as constants, and without unreferenced parameters.
pub(super) fn known(mut best: Candidate, kernel: &str, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    for tried in with_constants(&best, kernel) {
        let tried = Candidate { text: tried, launch: best.launch.clone() };
        if test(&tried) {
            best = tried;
            break;
        }
    }
    let mut number = best.launch.arguments.len();
    while number > 0 {
        number -= 1;
        if let Some(tried) = without(&best, kernel, number).filter(|tried| test(tried)) {
            best = tried;
        }
    }
    best
}

/// Returns the names of a kernel's parameters, each with the byte range of its declaration.
fn parameters<'a>(module: &Module<'a>, kernel: &str) -> Option<Vec<(&'a str, Range<usize>)>> {
    let file = module.file();
    let text = file.text();
    let body = module.bodies().iter().find(|body| body.name(file) == kernel)?;
    let declarations = body.parts.parameters.as_ref()?;
    let range = |declaration: &Declaration| {
        let declarator = declaration.declarators.first()?;
        let name = declarator.name?;
        let last = declarator.dimensions.last().map_or(name, |&(_, close)| close);
        Some((text.str(name), text.start(declaration.space)..text.start(Token(last.0 + 1))))
    };
    declarations.iter().map(range).collect()
}

/// Returns texts in which loads of parameters are replaced by the parameters' values: first one text for all
/// parameters, then one text for each parameter.
fn with_constants(candidate: &Candidate, kernel: &str) -> Vec<String> {
    let Ok(module) = candidate.module() else { return Vec::new() };
    let file = module.file();
    let text = file.text();
    let Some(names) = parameters(&module, kernel) else { return Vec::new() };
    let mut loads: Vec<(usize, Range<usize>, String)> = Vec::new();
    for (id, instruction) in instructions(&module) {
        let [Operand::Name(to), Operand::Address(from)] = instruction.operands.as_slice() else { continue };
        let [Operand::Name(from)] = from.as_slice() else { continue };
        let is_parameter = instruction.modifiers.iter().any(|&modifier| text.of(modifier) == b".param");
        let number = names.iter().position(|(name, _)| *name == text.str(from.word));
        let Some(number) = number.filter(|_| is_parameter && text.of(instruction.word) == b"ld") else { continue };
        let Some(Some(bytes)) = candidate.launch.arguments.get(number) else { continue };
        let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        let bits = 8 * bytes.len();
        // Large values are addresses of buffers, which differ between GPUs and therefore are not constant.
        if matches!(bits, 16 | 32 | 64) && value < 1 << 32 {
            loads.push((number, bare(file, id), format!("mov.b{bits} {}, {value};", text.str(to.word))));
        }
    }
    let with = |wanted: &dyn Fn(usize) -> bool| {
        let mut out = String::new();
        let mut at = 0;
        for (_, range, replacement) in loads.iter().filter(|load| wanted(load.0)) {
            out += &candidate.text[at..range.start];
            out += replacement;
            at = range.end;
        }
        out + &candidate.text[at..]
    };
    let each = (0..names.len()).filter(|number| loads.iter().any(|load| load.0 == *number));
    let each: Vec<String> = each.map(|wanted| with(&|number| number == wanted)).collect();
    if loads.is_empty() { Vec::new() } else { std::iter::once(with(&|_| true)).chain(each).collect() }
}

/// Returns the candidate without a parameter that the kernel does not reference.
fn without(candidate: &Candidate, kernel: &str, number: usize) -> Option<Candidate> {
    let module = candidate.module().ok()?;
    let text = module.file().text();
    let names = parameters(&module, kernel)?;
    let (name, range) = names.get(number)?.clone();
    let words = (0..text.num_tokens() as u32).map(Token).filter(|&token| text.kind(token) == TokenKind::Word);
    if words.filter(|&word| text.str(word) == name).count() > 1 {
        return None;
    }
    let bytes = candidate.text.as_bytes();
    // The comma after the parameter is removed, too. For the last parameter, the comma before it is removed.
    let behind = candidate.text[range.end..].find(|character: char| !character.is_whitespace())? + range.end;
    let range = if bytes.get(behind) == Some(&b',') {
        range.start..behind + 1
    } else {
        let ahead = candidate.text[..range.start].rfind([',', '('])?;
        let start = if bytes.get(ahead) == Some(&b',') { ahead } else { ahead + 1 };
        start..range.end
    };
    let text = format!("{}{}", &candidate.text[..range.start], &candidate.text[range.end..]);
    let mut launch = candidate.launch.clone();
    if number < launch.arguments.len() {
        launch.arguments.remove(number);
    }
    Some(Candidate { text, launch })
}
