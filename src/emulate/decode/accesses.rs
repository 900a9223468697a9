//! Loads, stores, atomic operations, and asynchronous copies.

use super::decoder::{Decoder, Refusal};
use super::scopes::Symbol;
use crate::emulate::layout;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Access, Address, Arrival, AtomicOp, MbarrierOp, Op, Order, Row, SINK, Space, ZERO};
use crate::emulate::pure::{MOST_SOURCES, Pure};
use crate::emulate::types::{Kind, Ty, low};
use crate::ptx::Operand;

/// Whether a modifier of a load or store only controls caches.
fn is_hint(word: &str) -> bool {
    matches!(
        word,
        "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc" | "weak" | "gpu" | "cta" | "sys" | "cluster" | "unified"
    ) || word.starts_with("L1::")
        || word.starts_with("L2::")
        || word.starts_with("level::")
}

impl Decoder<'_, '_> {
    /// Decodes a memory access. `None` for other instructions.
    pub(super) fn access(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        match mnemonic.word {
            "ld" | "ldu" | "st" => self.plain(mnemonic, operands)?,
            "atom" | "red" => {
                if mnemonic.has("async") {
                    return Ok(None);
                }
                self.atomic(mnemonic, operands)?;
            }
            "cvta" => self.converted_address(mnemonic, operands)?,
            "isspacep" => {
                let [to, from] = operands else { return Err("two operands".into()) };
                let (space, is_global) = match mnemonic.modifiers.as_slice() {
                    ["global"] => (Space::Generic, true),
                    ["shared" | "shared::cta"] => (Space::Shared, false),
                    ["shared::cluster"] if !self.globals.has_clusters => (Space::Shared, false),
                    ["local"] => (Space::Local, false),
                    _ => return Err("the space".into()),
                };
                let (to, from) = (self.result(to)?, self.source(from, Ty::Unsigned(64))?);
                self.emit(Op::IsSpace { to, from, space, is_global });
            }
            "prefetch" | "prefetchu" | "applypriority" => self.emit(Op::Nothing),
            // A cache policy changes no value.
            "createpolicy" => {
                let to = self.result(operands.first().ok_or("no result")?)?;
                self.emit(Op::Move { to, from: ZERO });
            }
            "cp" => {
                return match self.bulk(mnemonic, operands)? {
                    None if mnemonic.modifiers.first() == Some(&"async") => self.async_copy(mnemonic, operands),
                    found => Ok(found),
                };
            }
            "mbarrier" => self.mbarrier(mnemonic, operands)?,
            "alloca" => {
                let (to, bytes) = match operands {
                    [to, bytes, ..] => (self.result(to)?, self.source(bytes, Ty::Unsigned(64))?),
                    _ => return Err("two operands".into()),
                };
                let alignment = match operands.get(2) {
                    Some(Operand::Number(number)) => self.constant_number(number, Ty::Unsigned(32))? as u32,
                    _ => 8,
                };
                self.emit(Op::Alloca { to, bytes, alignment });
            }
            "stacksave" => {
                let to = self.result(operands.first().ok_or("no operand")?)?;
                self.emit(Op::StackSave { to });
            }
            "stackrestore" => {
                let from = self.source(operands.first().ok_or("no operand")?, Ty::Unsigned(64))?;
                self.emit(Op::StackRestore { from });
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    /// Returns the memory space in a mnemonic.
    pub(super) fn space(&self, mnemonic: &Mnemonic<'_>) -> Result<Space, Refusal> {
        for &word in &mnemonic.modifiers {
            return Ok(match word {
                "shared" | "shared::cta" => Space::Shared,
                "local" => Space::Local,
                "global" | "const" | "param" | "param::entry" | "param::func" => Space::Generic,
                "shared::cluster" if !self.globals.has_clusters => Space::Shared,
                "shared::cluster" => return Err("shared memory of a cluster".into()),
                _ => continue,
            });
        }
        Ok(Space::Generic)
    }

    fn plain(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        let is_load = mnemonic.word != "st";
        let known = |word: &&str| {
            is_hint(word)
                || Ty::of(word).is_some()
                || matches!(
                    *word,
                    "global"
                        | "const"
                        | "param"
                        | "param::entry"
                        | "param::func"
                        | "shared"
                        | "shared::cta"
                        | "shared::cluster"
                        | "local"
                        | "volatile"
                        | "relaxed"
                        | "acquire"
                        | "release"
                        | "v2"
                        | "v4"
                        | "v8"
                        | "noftz"
                )
        };
        if let Some(word) = mnemonic.modifiers.iter().find(|word| !known(word)) {
            return Err(format!("the modifier {word}"));
        }
        let ty = mnemonic.ty().ok_or("no type")?;
        let space = self.space(mnemonic)?;
        let (registers, address) = match operands {
            [registers, address, ..] if is_load => (registers, address),
            [address, registers, ..] => (registers, address),
            _ => return Err("two operands".into()),
        };
        let address = self.address(address, space)?;
        if mnemonic.has("const") && address.space != Space::Generic {
            return Err("a constant in another space".into());
        }
        let elements = if is_load {
            self.results(registers)?
        } else {
            match registers {
                Operand::Vector(parts) => parts.iter().map(|part| self.source(part, ty)).collect::<Result<_, _>>()?,
                other => vec![self.source(other, ty)?],
            }
        };
        let order = match mnemonic.one_of(&["volatile", "relaxed", "acquire", "release"]) {
            Some("volatile") => Order::Volatile,
            Some(_) => Order::Strong,
            None => Order::Weak,
        };
        // An element of 128 bits is decoded as two elements of 64 bits.
        let (ty, elements) = if ty.bits() == 128 {
            let both = elements.iter().flat_map(|&row| [row, if row == SINK { SINK } else { Row(row.0 + 1) }]);
            (Ty::Unsigned(64), both.collect())
        } else {
            (ty, elements)
        };
        let access = Access { address, ty, elements, kinds: Vec::new(), carried: Vec::new(), order };
        self.emit(if is_load { Op::Load(access) } else { Op::Store(access) });
        Ok(())
    }

    fn atomic(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        let op = match mnemonic.one_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]) {
            Some("add") => AtomicOp::Add,
            Some("min") => AtomicOp::Min,
            Some("max") => AtomicOp::Max,
            Some("and") => AtomicOp::And,
            Some("or") => AtomicOp::Or,
            Some("xor") => AtomicOp::Xor,
            Some("exch") => AtomicOp::Exchange,
            Some("cas") => AtomicOp::CompareAndSwap,
            Some("inc") => AtomicOp::Increment,
            Some("dec") => AtomicOp::Decrement,
            _ => return Err("the operation".into()),
        };
        let known = |word: &&str| {
            is_hint(word)
                || Ty::of(word).is_some()
                || matches!(
                    *word,
                    "add"
                        | "min"
                        | "max"
                        | "and"
                        | "or"
                        | "xor"
                        | "exch"
                        | "cas"
                        | "inc"
                        | "dec"
                        | "global"
                        | "shared"
                        | "shared::cta"
                        | "shared::cluster"
                        | "relaxed"
                        | "acquire"
                        | "release"
                        | "acq_rel"
                        | "noftz"
                )
        };
        if let Some(word) = mnemonic.modifiers.iter().find(|word| !known(word)) {
            return Err(format!("the modifier {word}"));
        }
        let ty = mnemonic.ty().ok_or("no type")?;
        let is_float = ty.is_float();
        let exchanges = matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap);
        if ty.bits() > 64 || (is_float && op != AtomicOp::Add && !exchanges) {
            return Err("the type".into());
        }
        let space = self.space(mnemonic)?;
        let (to, rest) = match (mnemonic.word, operands) {
            ("atom", [to, rest @ ..]) => (self.result(to)?, rest),
            (_, rest) => (SINK, rest),
        };
        let (address, given) = rest.split_first().ok_or("no address")?;
        let wanted = if op == AtomicOp::CompareAndSwap { 2 } else { 1 };
        if given.len() < wanted {
            return Err("too few operands".into());
        }
        let address = self.address(address, space)?;
        let mut from = [ZERO; 2];
        for (number, operand) in given.iter().take(wanted).enumerate() {
            from[number] = self.source(operand, ty)?;
        }
        self.emit(Op::Atomic { address, op, ty, to, from, kind: Kind::Integer });
        Ok(())
    }

    /// Decodes `cvta`: adds or subtracts the start of the space's window.
    fn converted_address(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        let [to, from] = operands else { return Err("two operands".into()) };
        let to = self.result(to)?;
        let from = self.source(from, Ty::Unsigned(64))?;
        let window = match mnemonic.one_of(&["shared", "shared::cta", "local", "global", "const", "param"]) {
            Some("shared" | "shared::cta") => layout::SHARED,
            Some("local") => layout::LOCAL,
            Some(_) => 0,
            None => return Err("the space".into()),
        };
        if window == 0 {
            self.emit(Op::MoveAddress { to, from });
            return Ok(());
        }
        let window = self.constant(window, 64);
        self.emit_pure(if mnemonic.has("to") { "sub.u64" } else { "add.u64" }, &[to], &[from, window])
    }

    fn async_copy(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        match mnemonic.modifiers.as_slice() {
            ["async", "commit_group"] => self.emit(Op::AsyncCommit),
            ["async", "wait_all"] => {
                self.emit(Op::AsyncCommit);
                self.emit(Op::AsyncWait { left: 0 });
            }
            ["async", "wait_group"] => {
                let Some(Operand::Number(number)) = operands.first() else { return Err("no number".into()) };
                let left = self.constant_number(number, Ty::Unsigned(32))? as u32;
                self.emit(Op::AsyncWait { left });
            }
            ["async", "mbarrier", "arrive", rest @ ..] => {
                let address = self.address(operands.first().ok_or("no address")?, self.space(mnemonic)?)?;
                let as_what = if rest.contains(&"noinc") { Arrival::Planned } else { Arrival::Counted };
                self.emit(Op::AsyncArrive { address, as_what });
            }
            ["async", "ca" | "cg", "shared" | "shared::cta", "global", hints @ ..]
                if hints.iter().all(|word| is_hint(word)) =>
            {
                let [to, from, bytes, rest @ ..] = operands else { return Err("three operands".into()) };
                let to = self.address(to, Space::Shared)?;
                let from = self.address(from, Space::Generic)?;
                let Operand::Number(number) = bytes else { return Err("the size".into()) };
                let bytes = self.constant_number(number, Ty::Unsigned(32))? as u32;
                let has_policy = hints.contains(&"L2::cache_hint");
                let given = match (rest, has_policy) {
                    ([], _) | ([_], true) => None,
                    ([given, ..], _) => {
                        // A predicate here means that the source may be ignored.
                        if let Operand::Name(name) = given
                            && let Some(Symbol::Register(_, Ty::Pred)) = self.scopes.find(self.text.str(name.word))
                        {
                            return Err("a predicate to ignore the source".into());
                        }
                        Some(self.source(given, Ty::Unsigned(32))?)
                    }
                };
                self.emit(Op::AsyncCopy { to, from, bytes, given });
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn mbarrier(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        if mnemonic.has("shared::cluster") && self.globals.has_clusters {
            return Err("an mbarrier of a cluster".into());
        }
        let is_known = |word: &str| {
            Ty::of(word).is_some()
                || matches!(
                    word,
                    "shared"
                        | "shared::cta"
                        | "shared::cluster"
                        | "release"
                        | "acquire"
                        | "relaxed"
                        | "cta"
                        | "cluster"
                        | "parity"
                        | "expect_tx"
                        | "noComplete"
                )
        };
        let (first, rest) = mnemonic.modifiers.split_first().ok_or("no operation")?;
        if let Some(word) = rest.iter().find(|word| !is_known(word)) {
            return Err(format!("the modifier {word}"));
        }
        let at = |decoder: &mut Self, operand: Option<&Operand>| -> Result<Address, Refusal> {
            let is_shared = rest.iter().any(|word| word.starts_with("shared"));
            decoder.address(operand.ok_or("no address")?, if is_shared { Space::Shared } else { Space::Generic })
        };
        let word = Ty::Unsigned(32);
        let one = self.constant(1, 32);
        let (address, op) = match *first {
            "pending_count" => {
                let [to, state] = operands else { return Err("two operands".into()) };
                let (to, state) = (self.result(to)?, self.source(state, Ty::Unsigned(64))?);
                let count = |[state]: [u64; 1]| [low((1u64 << 20).wrapping_sub(state >> 43), 20)];
                let pure = Pure::new(word, count).sources(&[Ty::Unsigned(64)]);
                let mut from = [ZERO; MOST_SOURCES];
                from[0] = state;
                self.emit(Op::Pure { pure, to: [to, SINK], from });
                return Ok(());
            }
            "init" => {
                let address = at(self, operands.first())?;
                (address, MbarrierOp::Init { count: self.source(operands.get(1).ok_or("no count")?, word)? })
            }
            "inval" => (at(self, operands.first())?, MbarrierOp::Invalidate),
            "arrive" | "arrive_drop" => {
                let has_state = !matches!(operands.first(), Some(Operand::Address(_)));
                let to = if has_state { self.result(&operands[0])? } else { SINK };
                let rest = &operands[usize::from(has_state)..];
                let address = at(self, rest.first())?;
                let given = match rest.get(1) {
                    Some(operand) => Some(self.source(operand, word)?),
                    None => None,
                };
                let expects = mnemonic.has("expect_tx");
                let (count, expected) =
                    if expects { (one, given.unwrap_or(ZERO)) } else { (given.unwrap_or(one), ZERO) };
                (address, MbarrierOp::Arrive { to, count, expected, drops: *first == "arrive_drop" })
            }
            "expect_tx" | "complete_tx" => {
                let address = at(self, operands.first())?;
                let bytes = self.source(operands.get(1).ok_or("no size")?, word)?;
                let is_expected = *first == "expect_tx";
                (address, if is_expected { MbarrierOp::Expect { bytes } } else { MbarrierOp::Complete { bytes } })
            }
            "test_wait" | "try_wait" => {
                let to = self.result(operands.first().ok_or("no result")?)?;
                let address = at(self, operands.get(1))?;
                let is_parity = mnemonic.has("parity");
                let ty = if is_parity { word } else { Ty::Unsigned(64) };
                let by = self.source(operands.get(2).ok_or("no phase")?, ty)?;
                // An mbarrier state has its phase in the highest bit, as in machine code.
                (address, MbarrierOp::Test { to, by, bit: if is_parity { 0 } else { 63 } })
            }
            other => return Err(format!("the operation {other}")),
        };
        self.emit(Op::Mbarrier { address, op });
        Ok(())
    }
}
