//! Removes moves between registers: the source replaces the result.

use super::candidate::Candidate;
use super::registers::Registers;
use super::statements::{bare, instructions};
use crate::ptx::{Operand, Token, TokenKind};

/// Returns the candidate without the moves that the test does not need. The source of a removed move replaces its
/// result everywhere.
pub(super) fn forwarded(mut best: Candidate, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    let mut number = 0;
    while let Some(tried) = without(&best, number) {
        if test(&tried) {
            best = tried;
        } else {
            number += 1;
        }
    }
    best
}

/// Returns the candidate without the move at index `number`; `None` if there are fewer moves.
fn without(candidate: &Candidate, number: usize) -> Option<Candidate> {
    let module = candidate.module().ok()?;
    let (file, registers) = (module.file(), Registers::new(&module));
    let text = file.text();
    let mut moves = instructions(&module).filter_map(|(id, instruction)| {
        let (Operand::Name(to), Operand::Name(from)) = (instruction.operands.first()?, instruction.operands.get(1)?)
        else {
            return None;
        };
        let is_plain = instruction.guard.is_none() && instruction.operands.len() == 2;
        let (to_name, from_name) = (text.str(to.word), text.str(from.word));
        let are_alike = registers.bits(to_name).is_some_and(|bits| registers.bits(from_name) == Some(bits));
        let is_move = text.of(instruction.word) == b"mov" && is_plain && are_alike && to_name != from_name;
        is_move.then_some((bare(file, id), to_name, from_name))
    });
    let (range, to, from) = moves.nth(number)?;
    let mut out = String::with_capacity(candidate.text.len());
    for token in (0..text.num_tokens() as u32).map(Token) {
        let start = text.start(token);
        if range.contains(&start) {
            continue;
        }
        let word = candidate.text.get(start..text.start(Token(token.0 + 1)))?;
        out += if text.kind(token) == TokenKind::Word && word == to { from } else { word };
    }
    Some(Candidate { text: out, launch: candidate.launch.clone() })
}
