//! The figures of a PTX file from ptxas and the disassembler, and their text form, which caches store.

use std::collections::BTreeMap;
use std::time::Duration;

use super::figures::{Block, Figures};
use super::ptxas_output::{PtxasReport, Sass, SpilledLoad, SpilledWord, Spills};
use super::question::NoAnswer;
use super::relocatable::Relocatable;
use crate::target::machine::Architecture;

/// What ptxas and the disassembler report of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The kernels by name.
    pub kernels: BTreeMap<String, (PtxasReport, Sass)>,
    /// The CPU time of ptxas.
    pub took: Duration,
    /// The spills of each function, if requested.
    pub spills: BTreeMap<String, Spills>,
    /// What a linker sees, if the file is linked later. [`print()`] does not store it.
    pub object: Option<Relocatable>,
}

impl Judgement {
    /// Returns the figures of one kernel that is launched in blocks of this kind.
    pub fn figures(&self, kernel: &str, block: Block, architecture: &Architecture) -> Result<Figures, NoAnswer> {
        let nothing = || NoAnswer::Refused("ptxas: no machine code for the kernel".into());
        let found = self.kernels.get(kernel).ok_or_else(nothing)?;
        Ok(Figures::new(found.0, found.1, architecture, block))
    }
}

/// The prefix of the reason of a refusal.
const REFUSED: &str = "refused ";

/// The prefixes of the text lines for a spilled word, and for a source line that computes a product and a sum.
const SPILLED: &str = "spilled ";
const FUSED: &str = "fused ";

/// Prints an answer as text: the time, then one kernel or one spilled word a line, or the reason why the file was
/// refused.
pub fn print(answer: &Result<Judgement, String>) -> String {
    let judged = match answer {
        Ok(judged) => judged,
        Err(problem) => return format!("{REFUSED}{}\n", problem.replace('\n', " ")),
    };
    let line = |(name, (ptxas_report, sass)): (&String, &(PtxasReport, Sass))| {
        let PtxasReport {
            registers,
            spill_store_bytes,
            spill_load_bytes,
            stack_bytes,
            total_stack_bytes,
            shared_bytes,
            advice,
        } = ptxas_report;
        let Sass { instructions, local, work, stack_traffic, shared_traffic } = sass;
        let of_ptxas = format!(
            "{registers} {spill_store_bytes} {spill_load_bytes} {stack_bytes} {total_stack_bytes} {shared_bytes} {advice}"
        );
        format!("{of_ptxas} {instructions} {local} {work} {stack_traffic} {shared_traffic} {name}\n")
    };
    let spills = |(name, Spills { words, fused }): (&String, &Spills)| {
        let word = |SpilledWord { line, word, of, moves, loads }: &SpilledWord| {
            let loads: Vec<String> = loads.iter().map(print_load).collect();
            format!("{SPILLED}{line} {word} {of} {moves} {} {name}\n", loads.join(";"))
        };
        let line = |line: &u32| format!("{FUSED}{line} {name}\n");
        words.iter().map(word).chain(fused.iter().map(line)).collect::<String>()
    };
    let kernels: String = judged.kernels.iter().map(line).collect();
    format!("{}\n{kernels}{}", judged.took.as_millis(), judged.spills.iter().map(spills).collect::<String>())
}

/// Prints a load as text: its executions, and the lines of its readers.
fn print_load(SpilledLoad { times, readers }: &SpilledLoad) -> String {
    let readers: Vec<String> = readers.iter().map(u32::to_string).collect();
    format!("{times}:{}", readers.join(","))
}

/// Parses the text of [`print_load`].
fn parse_load(text: &str) -> Option<SpilledLoad> {
    let (times, readers) = text.split_once(':')?;
    let readers = readers.split(',').filter(|line| !line.is_empty()).map(|line| line.parse().ok());
    Some(SpilledLoad { times: times.parse().ok()?, readers: readers.collect::<Option<_>>()? })
}

/// Parses the text of [`print()`]. `None` for any other text.
pub fn parse(text: &str) -> Option<Result<Judgement, String>> {
    let mut lines = text.lines();
    let first = lines.next()?;
    if let Some(problem) = first.strip_prefix(REFUSED) {
        return Some(Err(problem.to_owned()));
    }
    let took = Duration::from_millis(first.parse().ok()?);
    let mut kernels = BTreeMap::new();
    let mut spills: BTreeMap<String, Spills> = BTreeMap::new();
    for line in lines {
        if let Some(rest) = line.strip_prefix(SPILLED) {
            let mut words = rest.splitn(6, ' ');
            let mut number = || words.next()?.parse::<u32>().ok();
            let [line, word, of, moves] = [number()?, number()?, number()?, number()?];
            let loads =
                words.next()?.split(';').filter(|load| !load.is_empty()).map(parse_load).collect::<Option<_>>()?;
            let word = SpilledWord { line, word, of, moves, loads };
            spills.entry(words.next()?.to_owned()).or_default().words.push(word);
            continue;
        }
        if let Some((line, name)) = line.strip_prefix(FUSED).and_then(|rest| rest.split_once(' ')) {
            spills.entry(name.to_owned()).or_default().fused.insert(line.parse().ok()?);
            continue;
        }
        let mut words = line.splitn(13, ' ');
        let mut number = || words.next()?.parse::<u32>().ok();
        let ptxas_report = PtxasReport {
            registers: number()?,
            spill_store_bytes: number()?,
            spill_load_bytes: number()?,
            stack_bytes: number()?,
            total_stack_bytes: number()?,
            shared_bytes: number()?,
            advice: number()?,
        };
        let (instructions, local, work) = (number()?, number()?, number()?);
        let mut traffic = || words.next()?.parse().ok();
        let sass = Sass { instructions, local, work, stack_traffic: traffic()?, shared_traffic: traffic()? };
        kernels.insert(words.next()?.to_owned(), (ptxas_report, sass));
    }
    (!kernels.is_empty()).then_some(Ok(Judgement { kernels, took, spills, object: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored answers read back, refusals too, and malformed ones are discarded.
    #[test]
    fn kept_answers() {
        let ptxas_report = PtxasReport { registers: 40, spill_store_bytes: 8, ..PtxasReport::default() };
        let sass = Sass { instructions: 9, local: 2, work: 3, stack_traffic: 1 << 40, shared_traffic: 1 << 41 };
        let kernels = BTreeMap::from([("a b".to_owned(), (ptxas_report, sass))]);
        let loads = [(10, vec![8, 9]), (1, vec![])];
        let loads = loads.map(|(times, readers)| SpilledLoad { times, readers: readers.into_iter().collect() });
        let word = |loads| SpilledWord { line: 7, word: 1, of: 2, moves: 11, loads };
        let found = Spills { words: vec![word(loads.into()), word(vec![])], fused: [3, 9].into() };
        let spills = BTreeMap::from([("a b".to_owned(), found)]);
        let judged = Ok(Judgement { kernels, took: Duration::from_millis(17), spills, object: None });
        assert_eq!(parse(&print(&judged)), Some(judged));
        let refused = Err("ptxas: not today".to_owned());
        assert_eq!(parse(&print(&refused)), Some(refused));
        assert_eq!(parse("40 8"), None);
        assert_eq!(parse("17\n"), None);
        assert_eq!(parse(""), None);
    }
}
