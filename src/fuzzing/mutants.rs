//! Mutants of PTX: kernels with one fault each, for tests of tools that must find faults.
//!
//! A fault changes one line of a kernel. Lines with more than one statement, as in inline assembly, stay.

use std::collections::BTreeSet;
use std::ops::Range;

/// The kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A store is missing.
    StoreDropped,
    /// Two operands are exchanged.
    OperandsSwapped,
    /// A predicate is negated.
    PredicateTurned,
    /// The offset of an access is one word too large.
    OffsetWrong,
    /// A constant is too large by one.
    ConstantWrong,
    /// A branch has another target.
    EdgeRedirected,
    /// A barrier is missing.
    BarrierGone,
    /// A spilled value is reloaded from another value's slot.
    ReloadElsewhere,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 8] = [
        Self::StoreDropped,
        Self::OperandsSwapped,
        Self::PredicateTurned,
        Self::OffsetWrong,
        Self::ConstantWrong,
        Self::EdgeRedirected,
        Self::BarrierGone,
        Self::ReloadElsewhere,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoreDropped => "store dropped",
            Self::OperandsSwapped => "operands swapped",
            Self::PredicateTurned => "predicate turned",
            Self::OffsetWrong => "offset wrong",
            Self::ConstantWrong => "constant wrong",
            Self::EdgeRedirected => "edge redirected",
            Self::BarrierGone => "barrier gone",
            Self::ReloadElsewhere => "reload from another slot",
        }
    }
}

/// A kernel with a fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The fault.
    pub fault: Fault,
    /// The line, counted from 1.
    pub line: u32,
    /// The original line, and the changed line.
    pub lines: [String; 2],
    /// The changed PTX module.
    pub text: String,
}

/// Draws distinct mutants of a kernel. The kinds of fault that the kernel can have take turns.
pub fn mutants(text: &str, kernel: &str, count: usize, seed: u64) -> Vec<Mutant> {
    let Some(body) = body(text, kernel) else { return Vec::new() };
    let first = text[..body.start].matches('\n').count();
    let lines: Vec<&str> = text[body.clone()].split('\n').collect();
    let kernel = Lines::new(&lines);
    let mut random = Random(seed);
    let mut places: Vec<(Fault, Vec<usize>)> = Fault::ALL
        .into_iter()
        .map(|fault| (fault, (0..lines.len()).filter(|&at| kernel.changed(fault, at, 0).is_some()).collect()))
        .collect();
    places.retain(|(_, places): &(_, Vec<_>)| !places.is_empty());
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let turns = if places.is_empty() { 0 } else { 20 * count };
    let start = random.below(places.len());
    for turn in 0..turns {
        let (fault, places) = &places[(start + turn) % places.len()];
        let at = places[random.below(places.len())];
        let Some(changed) = kernel.changed(*fault, at, random.below(1 << 16)) else { continue };
        if changed == lines[at] || !seen.insert((at, changed.clone())) {
            continue;
        }
        let mut all = lines.clone();
        all[at] = &changed;
        let text = format!("{}{}{}", &text[..body.start], all.join("\n"), &text[body.end..]);
        let lines = [lines[at], &changed].map(|line| line.trim().to_owned());
        found.push(Mutant { fault: *fault, line: (first + at + 1) as u32, lines, text });
        if found.len() == count {
            break;
        }
    }
    found
}

/// Pseudo-random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x632b_e59b_d9b4_e019);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed >> 33) as usize) % limit.max(1)
    }
}

/// Returns the range between the braces of a kernel.
fn body(text: &str, kernel: &str) -> Option<Range<usize>> {
    let is_end = |rest: &str| rest.starts_with(|c: char| c == '(' || c.is_whitespace());
    let heads = text.match_indices(".entry ").map(|(at, word)| at + word.len());
    let mut named = heads.filter(|&at| text[at..].strip_prefix(kernel).is_some_and(is_end));
    let head = named.next()?;
    let open = head + text[head..].find('{')?;
    let mut depth = 0;
    for (at, character) in text[open..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(open + 1..open + at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The lines of a kernel, with information for faults.
struct Lines<'a> {
    lines: &'a [&'a str],
    /// Labels that are branch targets.
    labels: Vec<&'a str>,
    /// Registers with the address of a thread's spill slots.
    slots: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    fn new(lines: &'a [&'a str]) -> Self {
        let target = |line: &&'a str| -> Option<&'a str> {
            let code = statement(line)?;
            let (_, rest) = guarded(code)?;
            rest.starts_with("bra").then(|| code.rsplit(char::is_whitespace).next())?
        };
        let labels: BTreeSet<&str> = lines.iter().filter_map(target).collect();
        let slot = |line: &&'a str| -> Option<&'a str> {
            let (_, operands) = statement(line)?.split_once(char::is_whitespace)?;
            let (to, from) = operands.split_once(',')?;
            (!to.contains("%nvptx_ra") && from.contains("%nvptx_ra")).then(|| to.trim())
        };
        Self { lines, labels: labels.into_iter().collect(), slots: lines.iter().filter_map(slot).collect() }
    }

    /// Returns the changed line; `None` if the line cannot have the fault.
    fn changed(&self, fault: Fault, at: usize, number: usize) -> Option<String> {
        let code = statement(self.lines[at])?;
        let (guard, rest) = guarded(code)?;
        match fault {
            Fault::StoreDropped => (rest.starts_with("st.") && !rest.contains(".param")).then(String::new),
            Fault::BarrierGone => (rest.starts_with("bar.") || rest.starts_with("barrier.")).then(String::new),
            Fault::PredicateTurned => {
                let guard = guard?;
                let turned = guard.strip_prefix('!').map_or_else(|| format!("!{guard}"), str::to_owned);
                Some(format!("@{turned} {rest};"))
            }
            Fault::OffsetWrong => offset_wrong(code, rest),
            Fault::OperandsSwapped => swapped(code, rest),
            Fault::ConstantWrong => {
                let (before, constant) = code.rsplit_once(", ")?;
                let value: i64 = constant.trim().parse().ok()?;
                let is_other = ["shfl", "vote", "bar", "match", "redux", "elect", "cp.", "mma", "wgmma"];
                let is_other = is_other.iter().any(|word| rest.starts_with(word));
                (!is_other).then(|| format!("{before}, {};", value + 1))
            }
            Fault::EdgeRedirected => {
                let target = rest.starts_with("bra").then(|| code.rsplit(char::is_whitespace).next())??;
                let others: Vec<&&str> = self.labels.iter().filter(|label| **label != target).collect();
                let other = others.get(number % others.len().max(1))?;
                Some(format!("{}{other};", code.strip_suffix(target)?))
            }
            Fault::ReloadElsewhere => {
                let word = rest.split_whitespace().next().filter(|word| word.starts_with("ld."))?;
                let (before, place, after) = self.slot(code)?;
                let width = word.rsplit('.').next();
                let same_width = |line: &&'a str| -> Option<&'a str> {
                    let code = statement(line)?;
                    let word = guarded(code)?.1.split_whitespace().next()?;
                    (word.rsplit('.').next() == width).then(|| self.slot(code))?.map(|slot| slot.1)
                };
                let others: BTreeSet<&str> = self.lines.iter().filter_map(same_width).collect();
                let others: Vec<&str> = others.into_iter().filter(|&other| other != place).collect();
                let other = others.get(number % others.len().max(1))?;
                Some(format!("{before}{other}{after};"))
            }
        }
    }

    /// Returns the address of a spill slot, with the code before and after it.
    fn slot(&self, code: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let (open, close) = (code.find('[')? + 1, code.find(']')?);
        let address = code.get(open..close)?;
        let base = address.split('+').next()?.trim();
        self.slots.contains(&base).then_some((&code[..open], address, &code[close..]))
    }
}

/// Returns the only statement of a line, without its semicolon.
fn statement(line: &str) -> Option<&str> {
    let code = line.split("//").next()?.trim().strip_suffix(';')?;
    (!code.contains([';', '{', '}']) || code.starts_with("ld.") || code.starts_with("st.")).then_some(code)
}

/// Returns the predicate of a statement, and the rest.
fn guarded(code: &str) -> Option<(Option<&str>, &str)> {
    match code.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map(|(guard, rest)| (Some(guard), rest.trim_start())),
        None => Some((None, code)),
    }
}

fn offset_wrong(code: &str, rest: &str) -> Option<String> {
    if !matches!(rest.split('.').next()?, "ld" | "st") || rest.contains(".param") {
        return None;
    }
    let (open, close) = (code.find('[')?, code.find(']')?);
    let inner = code.get(open + 1..close)?;
    let step = if rest.contains("64") { 8 } else { 4 };
    let changed = match inner.split_once('+') {
        Some((base, offset)) => format!("{base}+{}", offset.trim().parse::<i64>().ok()? + step),
        None => format!("{inner}+{step}"),
    };
    Some(format!("{}{changed}{};", &code[..=open], &code[close..]))
}

fn swapped(code: &str, rest: &str) -> Option<String> {
    let word = rest.split('.').next()?;
    let mnemonic = rest.split_whitespace().next()?;
    let has_order = matches!(word, "sub" | "setp" | "div" | "rem" | "shl" | "shr" | "selp" | "fma" | "mad");
    if !has_order || mnemonic.contains(".eq") || mnemonic.contains(".ne") {
        return None;
    }
    let (head, list) = code.split_at(code.find(mnemonic)? + mnemonic.len());
    let mut operands: Vec<&str> = list.split(',').map(str::trim).collect();
    // Factors are exchangeable, so a factor is exchanged with the addend.
    let (first, second) = if matches!(word, "fma" | "mad") { (2, 3) } else { (1, 2) };
    let (left, right) = (operands.get(first).copied()?, operands.get(second).copied()?);
    // Registers of different classes cannot be exchanged.
    let class = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    if left == right || !left.starts_with('%') || class(left) != class(right) {
        return None;
    }
    operands.swap(first, second);
    Some(format!("{head} \t{};", operands.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".visible .entry other()\n{\n\tret;\n}\n.visible .entry k(\n\t.param .b64 k_param_0\n)\n{\n\
        \tadd.u32 \t%vr0, %nvptx_ra1, %nvptx_ra0;\n\
        \t@%p1 bra \t$L__BB0_2; // a comment\n\
        \t{ mov.b32 %r1, 1; st.global.b32 [%rd1], %r1; }\n\
        \tst.local.b32 \t[%vr0+4], %r3;\n\
        \tst.local.b32 \t[%vr0+8], %r4;\n\
        \tst.local.b64 \t[%vr0+16], %rd4;\n\
        $L__BB0_2:\n\
        \tsub.f32 \t%f1, %f2, %f3;\n\tsetp.ne.s32 \t%p2, %r1, %r2;\n\tadd.s32 \t%r1, %r2, -1;\n\
        \tld.local.b32 \t%r5, [%vr0+4];\n\tbar.sync \t0;\n\t@!%p2 bra.uni $L__BB0_1;\n\
        $L__BB0_1:\n\tst.global.v2.b32 \t[%rd1], {%r1, %r2};\n\tret;\n}\n";

    /// Each fault matches its name, and is in the requested kernel.
    #[test]
    fn faults() {
        let found: BTreeSet<(Fault, String, String)> = mutants(TEXT, "k", 100, 1)
            .into_iter()
            .map(|mutant| {
                let line = TEXT.lines().nth(mutant.line as usize - 1).expect("a line");
                assert_eq!(line.trim(), mutant.lines[0]);
                let differing = TEXT.lines().zip(mutant.text.lines()).filter(|(before, after)| before != after);
                assert_eq!(differing.count(), 1);
                let [before, after] = mutant.lines;
                (mutant.fault, before, after)
            })
            .collect();
        let has = |fault, before: &str, after: &str| found.contains(&(fault, before.into(), after.into()));
        assert!(has(Fault::StoreDropped, "st.global.v2.b32 \t[%rd1], {%r1, %r2};", ""), "{found:#?}");
        assert!(has(Fault::BarrierGone, "bar.sync \t0;", ""));
        assert!(has(Fault::PredicateTurned, "@!%p2 bra.uni $L__BB0_1;", "@%p2 bra.uni $L__BB0_1;"));
        assert!(has(Fault::EdgeRedirected, "@%p1 bra \t$L__BB0_2; // a comment", "@%p1 bra \t$L__BB0_1;"));
        assert!(has(Fault::OperandsSwapped, "sub.f32 \t%f1, %f2, %f3;", "sub.f32 \t%f1, %f3, %f2;"));
        assert!(has(Fault::ConstantWrong, "add.s32 \t%r1, %r2, -1;", "add.s32 \t%r1, %r2, 0;"));
        assert!(has(Fault::OffsetWrong, "st.local.b64 \t[%vr0+16], %rd4;", "st.local.b64 \t[%vr0+24], %rd4;"));
        let reloads: Vec<_> = found.iter().filter(|found| found.0 == Fault::ReloadElsewhere).collect();
        assert_eq!(reloads.len(), 1);
        assert_eq!(reloads[0].2, "ld.local.b32 \t%r5, [%vr0+8];");
        // Comparisons for equality and lines of two statements stay unchanged.
        assert!(found.iter().all(|(_, before, _)| !before.contains("setp.ne") && !before.contains("mov.b32")));
    }

    /// The same seed gives the same mutants, and another seed gives others.
    #[test]
    fn draws() {
        let texts = |seed| mutants(TEXT, "k", 4, seed).into_iter().map(|mutant| mutant.text).collect::<Vec<_>>();
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
        assert!(mutants(TEXT, "other", 4, 1).is_empty());
        assert!(mutants(TEXT, "none", 4, 1).is_empty());
    }
}
