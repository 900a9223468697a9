//! Branches, calls, barriers of a block, and fences.

use super::decoder::{Decoder, Refusal};
use super::scopes::Symbol;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{BarrierMode, Call, Callee, Op, Place, SINK, WarpOp, ZERO};
use crate::emulate::types::Ty;
use crate::ptx::Operand;
use crate::target::machine::Repartition;

const WORD: Ty = Ty::Unsigned(32);

impl Decoder<'_, '_> {
    /// Decodes control flow and barriers. `None` for other instructions.
    pub(super) fn control(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        match mnemonic.word {
            "bra" => {
                let Some(Operand::Name(name)) = operands.first() else { return Err("no label".into()) };
                let target = self.target(self.text.str(name.word))?;
                self.emit(Op::Branch { target });
            }
            "brx" => {
                let [index, Operand::Name(list)] = operands else { return Err("no list".into()) };
                let index = self.source(index, WORD)?;
                let targets = self.targets(self.text.str(list.word))?;
                self.emit(Op::IndexedBranch { index, targets });
            }
            "ret" => self.emit(Op::Return),
            "exit" => self.emit(Op::Exit),
            "trap" | "brkpt" => self.emit(Op::Trap),
            "call" => self.call(operands)?,
            "bar" | "barrier" if !mnemonic.has("cluster") => return self.barrier(mnemonic, operands),
            "membar" | "fence" => self.emit(Op::Fence),
            "nanosleep" | "pmevent" | "griddepcontrol" => self.emit(Op::Nothing),
            "setmaxnreg" => {
                let Some(Operand::Number(number)) = operands.first() else { return Err("no number".into()) };
                let count = self.constant_number(number, WORD)? as u32;
                let request = match mnemonic.one_of(&["inc", "dec"]) {
                    Some("inc") => Repartition::Increase(count),
                    Some(_) => Repartition::Decrease(count),
                    None => return Err("the operation".into()),
                };
                self.emit(Op::Registers(request));
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn call(&mut self, operands: &[Operand]) -> Result<(), Refusal> {
        let (returns, rest) = match operands {
            [Operand::List(returns), rest @ ..] => (returns.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let (callee, rest) = rest.split_first().ok_or("no function")?;
        let Operand::Name(name) = callee else { return Err("no function".into()) };
        let word = self.text.str(name.word);
        let callee = match self.scopes.find(word).or_else(|| self.globals.symbols.get(word).copied()) {
            Some(Symbol::Function(number)) => Callee::Function(number),
            Some(Symbol::Register(row, _)) => Callee::Indirect(row),
            _ => Callee::Missing(word.to_owned()),
        };
        if matches!(&callee, Callee::Missing(name) if name == "vprintf") {
            // Printed output is not compared.
            let name = self.hashed_name("call vprintf");
            self.emit(Op::Hashed { name, to: Vec::new(), from: Vec::new() });
            return Ok(());
        }
        let arguments = match rest.first() {
            Some(Operand::List(arguments)) => arguments.as_slice(),
            _ => &[],
        };
        let places = |decoder: &mut Self, list: &[Operand]| list.iter().map(|one| decoder.place(one)).collect();
        let arguments: Result<Vec<Place>, Refusal> = places(self, arguments);
        let returns: Result<Vec<Place>, Refusal> = places(self, returns);
        self.emit(Op::Call(Box::new(Call { callee, arguments: arguments?, returns: returns? })));
        Ok(())
    }

    fn place(&mut self, operand: &Operand) -> Result<Place, Refusal> {
        if let Operand::Name(name) = operand
            && let Some(Symbol::Frame { offset, bytes }) = self.scopes.find(self.text.str(name.word))
        {
            return Ok(Place::Frame { offset, bytes });
        }
        Ok(Place::Register(self.source(operand, Ty::Unsigned(64))?))
    }

    fn barrier(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        if mnemonic.has("warp") {
            let mask = self.source(operands.first().ok_or("no mask")?, WORD)?;
            self.emit(Op::Warp { op: WarpOp::Synchronise, mask });
            return Ok(Some(()));
        }
        let words: Vec<&str> =
            mnemonic.modifiers.iter().copied().filter(|word| !matches!(*word, "cta" | "aligned")).collect();
        let (mode, reduces) = match words.as_slice() {
            ["sync"] => (BarrierMode::Sync, false),
            ["arrive"] => (BarrierMode::Arrive, false),
            ["red", "popc", "u32"] => (BarrierMode::Count, true),
            ["red", "and", "pred"] => (BarrierMode::And, true),
            ["red", "or", "pred"] => (BarrierMode::Or, true),
            _ => return Err("the operation".into()),
        };
        let (mut to, mut predicate, mut negated, mut rest) = (SINK, ZERO, false, operands);
        if reduces {
            let [first, middle @ .., last] = operands else { return Err("too few operands".into()) };
            to = self.result(first)?;
            predicate = match last {
                Operand::Not(name) => {
                    negated = true;
                    self.register(name)?.0
                }
                other => self.source(other, Ty::Pred)?,
            };
            rest = middle;
        }
        let (id, count) = match rest {
            [id] => (self.source(id, WORD)?, None),
            [id, count] => (self.source(id, WORD)?, Some(self.source(count, WORD)?)),
            _ => return Err("the operands".into()),
        };
        self.emit(Op::Barrier { mode, id, count, to, predicate, negated });
        Ok(Some(()))
    }
}
