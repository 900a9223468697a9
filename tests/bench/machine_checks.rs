//! Checks the decoder's knowledge of machine code against the disassembler and against ptxas's own output.
//!
//!     machine_checks effects NVDISASM FILE.cubin...    registers read and written: agreement, as JSON
//!     machine_checks mine NVDISASM FILE.cubin...       the least cycles between two opcodes, as lines
//!     machine_checks believed FILE.txt...              merges several of these tables, without rare entries
//!     machine_checks hazards NVDISASM FILE.cubin...    findings, by function
//!     machine_checks mutations NVDISASM FILE.cubin...  counts the changes of control codes that are found

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufReader;
use std::process::{Command, Stdio};

use nvptx_ra::sass::control::Control;
use nvptx_ra::sass::effects::{Effects, Place};
use nvptx_ra::sass::hazards::latencies::Latencies;
use nvptx_ra::sass::hazards::{self, Finding};
use nvptx_ra::sass::instruction::Function;
use nvptx_ra::sass::text;
use object::{Object as _, ObjectSection as _};
use serde_json::json;

#[allow(dead_code, reason = "the tool uses the rest")]
#[path = "../../src/cli/machine/life_ranges.rs"]
mod life_ranges;

use life_ranges::{Kind, LifeRanges, Mark};

/// A name and a change of control codes
type Change = (&'static str, fn(&mut Control, u8));

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "machine_checks effects|mine|believed|hazards|mutations NVDISASM FILE...";
    let [what, nvdisasm, files @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    match what.as_str() {
        "effects" => effects(nvdisasm, files),
        "hazards" => hazards(nvdisasm, files),
        "mine" => mined(nvdisasm, files),
        "believed" => believed(&arguments[1..]),
        "mutations" => mutations(nvdisasm, files),
        _ => Err(usage.into()),
    }
}

/// Returns the functions of a cubin, from the disassembler's output.
fn functions(nvdisasm: &str, file: &str) -> Result<Vec<Function>, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let object = object::File::parse(&*bytes)?;
    let mut code = BTreeMap::new();
    for section in object.sections() {
        if let Some(name) = section.name()?.strip_prefix(".text.") {
            code.insert(name.to_owned(), section.data()?);
        }
    }
    let output = Command::new(nvdisasm).args(["-c", file]).output()?;
    Ok(text::read(std::str::from_utf8(&output.stdout)?, &code).0)
}

/// Returns the processor of a cubin.
fn processor(file: &str) -> Result<u32, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let object = object::File::parse(&*bytes)?;
    let object::FileFlags::Elf { e_flags, .. } = object.flags() else { return Err("no ELF file".into()) };
    // CUDA 13 and later store the processor's number one byte higher.
    let numbers = [e_flags & 0xff, e_flags >> 8 & 0xff];
    numbers.into_iter().find(|number| (70..130).contains(number)).ok_or_else(|| format!("{e_flags:#x}").into())
}

fn mined(nvdisasm: &str, files: &[String]) -> Result<(), Box<dyn Error>> {
    let mut table = Latencies::default();
    for file in files {
        let sm = processor(file)?;
        for function in functions(nvdisasm, file)? {
            hazards::mine(&function, sm, &mut table);
        }
    }
    table.lines().for_each(|line| println!("{line}"));
    Ok(())
}

/// Merges lines of several tables, read from files, and prints the entries that are frequent enough.
fn believed(files: &[String]) -> Result<(), Box<dyn Error>> {
    let texts: Result<Vec<String>, _> = files.iter().map(std::fs::read_to_string).collect();
    Latencies::read(&texts?.join("\n"))?.believed().lines().for_each(|line| println!("{line}"));
    Ok(())
}

/// Changes control codes of drawn instructions, one at a time, and counts how many of the changes are found.
fn mutations(nvdisasm: &str, files: &[String]) -> Result<(), Box<dyn Error>> {
    const LARGEST: usize = 800;
    const OF_A_KIND: usize = 2;
    let table = Latencies::of_ptxas();
    let mut counts: BTreeMap<(u32, &str), [u64; 3]> = BTreeMap::new();
    let mut unfound: BTreeMap<(&str, String), u64> = BTreeMap::new();
    // Knuth's generator. Every run draws the same numbers.
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for file in files {
        let sm = processor(file)?;
        for function in functions(nvdisasm, file)?.into_iter().filter(|one| one.instructions.len() <= LARGEST) {
            let clean = hazards::check(&function, sm, table);
            if !clean.is_empty() {
                continue;
            }
            let ends = hazards::waits(&function, sm);
            let changes: [Change; 5] = [
                ("no wait", |control, scoreboard| control.waits &= !(1 << scoreboard)),
                ("no scoreboard of results", |control, _| control.writes = None),
                ("no scoreboard of sources", |control, _| control.reads = None),
                ("stall - 1", |control, _| control.stall -= 1),
                ("stall 1", |control, _| control.stall = 1),
            ];
            for (name, change) in changes {
                let mut places: Vec<(usize, u8)> = Vec::new();
                for (index, instruction) in function.instructions.iter().enumerate() {
                    let control = instruction.control;
                    match name {
                        "no wait" => {
                            let waits = (0..6).filter(|scoreboard| control.waits >> scoreboard & 1 == 1);
                            places.extend(waits.map(|scoreboard| (index, scoreboard)));
                        }
                        "no scoreboard of results" => places.extend(control.writes.map(|_| (index, 0))),
                        "no scoreboard of sources" => places.extend(control.reads.map(|_| (index, 0))),
                        _ => places.extend((control.stall > 1).then_some((index, 0))),
                    }
                }
                for _ in 0..OF_A_KIND.min(places.len()) {
                    let (index, scoreboard) = places[draw(places.len())];
                    let mut mutant = function.clone();
                    change(&mut mutant.instructions[index].control, scoreboard);
                    let instruction = &function.instructions[index];
                    let is_found = !hazards::check(&mutant, sm, table).is_empty();
                    let is_idle = name == "no wait" && !ends.contains(&(instruction.address, scoreboard));
                    let count = counts.entry((sm, name)).or_default();
                    count[0] += 1;
                    count[1] += u64::from(is_found);
                    count[2] += u64::from(!is_found && is_idle);
                    if !is_found && !is_idle {
                        *unfound.entry((name, instruction.word().to_owned())).or_default() += 1;
                    }
                }
            }
        }
    }
    for ((sm, name), [all, found, idle]) in counts {
        println!("sm_{sm} {name}: {all} drawn, {found} found, {idle} waits that end nothing");
    }
    for ((name, word), count) in unfound {
        println!("unfound {name} {word} {count}");
    }
    Ok(())
}

fn hazards(nvdisasm: &str, files: &[String]) -> Result<(), Box<dyn Error>> {
    let table = Latencies::of_ptxas();
    for file in files {
        let sm = processor(file)?;
        for function in functions(nvdisasm, file)? {
            let at = |address: u32| &function.instructions[address as usize / 16];
            let findings = hazards::check(&function, sm, table);
            for finding in &findings {
                let Finding { address, from, place, rule } = finding;
                let name = |address: u32| at(address).mnemonic.to_string();
                println!(
                    "{rule:?} {} {} {place} {file} {} {from:x} {address:x}",
                    name(*from),
                    name(*address),
                    function.name
                );
            }
            println!("checked {} {}", function.instructions.len(), findings.len());
        }
    }
    Ok(())
}

/// Agreement of the decoder's effects with the disassembler's table of live registers
#[derive(Default)]
struct Agreement {
    instructions: u64,
    unknown: BTreeMap<String, u64>,
    agree: u64,
    differ: BTreeMap<String, (u64, String)>,
}

fn effects(nvdisasm: &str, files: &[String]) -> Result<(), Box<dyn Error>> {
    let mut found = Agreement::default();
    for file in files {
        let functions = functions(nvdisasm, file)?;
        let by_name: BTreeMap<&str, &Function> = functions.iter().map(|one| (one.name.as_str(), one)).collect();
        let mut child = Command::new(nvdisasm)
            .args(["-c", "-plr", "-lrm", "narrow", file])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let read = life_ranges::for_each(output, |table| {
            if let Some(function) = by_name.get(table.name.as_str()) {
                found.compare(file, function, &table);
            }
            Ok::<(), String>(())
        });
        child.wait()?;
        if let Err(error) = read {
            eprintln!("{file}: {error}");
        }
    }
    let Agreement { instructions, unknown, agree, differ } = found;
    let print = json!({ "instructions": instructions, "agree": agree, "unknown": unknown, "differ": differ });
    println!("{}", serde_json::to_string_pretty(&print)?);
    Ok(())
}

impl Agreement {
    fn compare(&mut self, file: &str, function: &Function, table: &LifeRanges) {
        let rows: BTreeMap<u32, usize> = (0..table.len()).map(|row| (table.offset(row), row)).collect();
        for instruction in &function.instructions {
            let Some(&row) = rows.get(&instruction.address) else { continue };
            self.instructions += 1;
            let Some(effects) = Effects::of(instruction) else {
                let name = if &*instruction.mnemonic == "?" { table.text(row) } else { instruction.word() };
                *self.unknown.entry(name.to_owned()).or_default() += 1;
                continue;
            };
            let ours = |is_write: bool| -> Vec<Place> {
                let mut places: Vec<Place> =
                    if is_write { effects.writes().collect() } else { effects.reads().collect() };
                places.retain(|place| !matches!(place, Place::Convergence(_)));
                places.sort_unstable();
                places.dedup();
                places
            };
            let theirs = |is_wanted: fn(Mark) -> bool| -> Vec<Place> {
                let kinds = Kind::ALL.iter().flat_map(|&kind| {
                    let marks = table.marks(row, kind).iter().enumerate();
                    marks.filter(move |mark| is_wanted(*mark.1)).map(move |(number, _)| place(kind, number as u8))
                });
                let mut places: Vec<Place> = kinds.collect();
                places.sort_unstable();
                places
            };
            let (reads, writes) = (theirs(Mark::is_read), theirs(Mark::is_write));
            if (ours(false), ours(true)) == (reads.clone(), writes.clone()) {
                self.agree += 1;
                continue;
            }
            let show = |places: &[Place]| places.iter().map(Place::to_string).collect::<Vec<_>>().join(" ");
            let entry = self.differ.entry(instruction.mnemonic.to_string()).or_default();
            entry.0 += 1;
            if entry.0 == 1 {
                entry.1 = format!(
                    "{file} {} {:#x}: {}: we read {}; write {}; they read {}; write {}",
                    function.name,
                    instruction.address,
                    table.text(row),
                    show(&ours(false)),
                    show(&ours(true)),
                    show(&reads),
                    show(&writes),
                );
            }
        }
    }
}

fn place(kind: Kind, number: u8) -> Place {
    match kind {
        Kind::General => Place::General(number),
        Kind::Predicate => Place::Predicate(number),
        Kind::Uniform => Place::Uniform(number),
        Kind::UniformPredicate => Place::UniformPredicate(number),
    }
}
