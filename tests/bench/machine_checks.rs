//! What is known of machine code, held against the disassembler on cubins: one JSON object for all of them.
//!
//!     machine_checks effects NVDISASM FILE.cubin...

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufReader;
use std::process::{Command, Stdio};

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

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "machine_checks effects NVDISASM FILE.cubin...";
    let [what, nvdisasm, files @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    match what.as_str() {
        "effects" => effects(nvdisasm, files),
        "hazards" => hazards(nvdisasm, files),
        "mine" => mined(nvdisasm, files),
        _ => Err(usage.into()),
    }
}

/// The functions of a cubin, as the disassembler prints them.
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

/// The processor that a cubin names.
fn processor(file: &str) -> Result<u32, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let object = object::File::parse(&*bytes)?;
    let object::FileFlags::Elf { e_flags, .. } = object.flags() else { return Err("no ELF file".into()) };
    // Since CUDA 13 the number stands a byte higher.
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

fn hazards(nvdisasm: &str, files: &[String]) -> Result<(), Box<dyn Error>> {
    let table = Latencies::default();
    for file in files {
        let sm = processor(file)?;
        for function in functions(nvdisasm, file)? {
            let at = |address: u32| &function.instructions[address as usize / 16];
            let findings = hazards::check(&function, sm, &table);
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

/// What the effects and the disassembler's table of live registers say of each other.
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
