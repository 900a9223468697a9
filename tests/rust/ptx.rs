//! PTX of real compilers is read, and printed again byte for byte.
//!
//! Set `PTX_CORPUS` to files or folders, separated by colons, to test more than the files of tests/ptx.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use nvptx_ra::forecast::{Case, forecast};
use nvptx_ra::function::{Edit, EditList, Function, VReg};
use nvptx_ra::index::EntityIndex;
use nvptx_ra::passes::{PtxRun, pipeline, run_on_ptx};
use nvptx_ra::ptx::{File, Module, Patch, View};
use nvptx_ra::target::machine::Architecture;

/// Returns all files below a path that end in `.ptx`, in order.
fn ptx_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return if path.extension().is_some_and(|extension| extension == "ptx") { vec![path.into()] } else { vec![] };
    };
    let mut below: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    below.sort();
    below.iter().flat_map(|path| ptx_files(path)).collect()
}

fn corpus() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let more = std::env::var("PTX_CORPUS").unwrap_or_default();
    let more = more.split(':').filter(|path| !path.is_empty()).map(PathBuf::from);
    std::iter::once(own).chain(more).flat_map(|path| ptx_files(&path)).collect()
}

/// Every file is printed exactly as it was read, from the parts of its statements. Almost no statement is opaque.
#[test]
fn same_bytes() {
    let (mut statements, mut bytes, mut time) = (0, 0, 0.0);
    let mut opaque: BTreeMap<String, u64> = BTreeMap::new();
    let files = corpus();
    assert!(!files.is_empty(), "tests/ptx has files");
    for path in &files {
        let text = fs::read(path).expect("the file can be read");
        let name = path.display().to_string();
        let start = Instant::now();
        let file = File::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(file.print() == text, "{name}: printing changed the text");
        time += start.elapsed().as_secs_f64();
        bytes += text.len();
        statements += file.statements().ids().len();
        file.opaque().for_each(|(_, word)| *opaque.entry(word.to_owned()).or_default() += 1);
    }
    println!("{} files, {bytes} bytes, {statements} statements, {time:.2} s, opaque: {opaque:?}", files.len());
    let count: u64 = opaque.values().sum();
    assert!(count * 10_000 <= statements as u64, "{count} of {statements} statements are opaque: {opaque:?}");
}

/// Every function has a valid view, and few functions are not editable.
#[test]
fn views() {
    let (mut functions, mut insts, mut unknown, mut time) = (0, 0, 0, 0.0);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for path in corpus() {
        let text = fs::read(&path).expect("the file can be read");
        let name = path.display().to_string();
        let start = Instant::now();
        let module = Module::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        for body in module.bodies() {
            functions += 1;
            match module.view(body) {
                Ok(view) => {
                    insts += view.function.num_insts();
                    let of = |inst| view.function.opcodes().name(view.function.opcode(inst));
                    unknown += view.function.insts().filter(|&inst| of(inst).ends_with("/?")).count();
                    view.odd.into_iter().for_each(|reason| *refused.entry(reason).or_default() += 1);
                }
                Err(reason) => {
                    println!("{name}: {}: {reason}", body.name(module.file()));
                    *refused.entry(reason).or_default() += 1;
                }
            }
        }
        time += start.elapsed().as_secs_f64();
    }
    println!("{functions} functions, {insts} instructions, {unknown} unknown, {time:.2} s, refused: {refused:?}");
}

/// The pipelines that change PTX modules.
const PIPELINES: [&str; 6] = [
    "nvptx-copy-coalescer<verify>",
    "nvptx-remat<remat=high;verify>",
    "nvptx-schedule<order=eager;verify>",
    "nvptx-schedule<order=late;order-seed=7;verify>",
    "nvptx-regalloc<regalloc=40;dynamic-shared=0;verify>",
    "nvptx-rename<rename;rename-all;verify>",
];

/// Returns ptxas if it is installed.
fn ptxas() -> Option<PathBuf> {
    let path = std::env::var("PTXAS").unwrap_or_else(|_| "ptxas".into());
    Command::new(&path).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(path.into())
}

fn assembles(ptxas: &Path, text: &[u8], target: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("a.ptx");
    fs::write(&input, text).expect("the file can be written");
    let target = format!("-arch={target}");
    let output = folder.path().join("a.cubin");
    let done = Command::new(ptxas).args([&target, "-O1", "-o"]).arg(output).arg(&input).output().expect("ptxas runs");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(message.lines().take(4).collect::<Vec<_>>().join(" | ")) }
}

/// Every pass runs on every file. The output parses again, and ptxas accepts the output if it accepts the original
/// file.
#[test]
fn passes_on_text() {
    let ptxas = ptxas();
    let pipelines = std::env::var("PTX_PIPELINES");
    let pipelines: Vec<&str> = match &pipelines {
        Ok(text) => text.split('|').collect(),
        Err(_) => PIPELINES.to_vec(),
    };
    let mut failures = Vec::new();
    for path in corpus() {
        let text = fs::read(&path).expect("the file can be read");
        let name = path.display().to_string();
        let module = Module::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let target = module.target();
        let is_taken = ptxas.as_deref().is_some_and(|ptxas| assembles(ptxas, &text, target).is_ok());
        for text_of_pipeline in &pipelines {
            let steps = pipeline(text_of_pipeline).expect("a pipeline");
            let wanted = PtxRun { steps, ..PtxRun::default() };
            let output = match run_on_ptx(&name, &text, &wanted) {
                Ok(output) => output,
                Err(error) => {
                    failures.push(format!("{name}: {text_of_pipeline}: {error}"));
                    continue;
                }
            };
            let left: Vec<&str> = output
                .remarks
                .iter()
                .map(|remark| remark.message.as_str())
                .filter(|text| text.starts_with("left"))
                .collect();
            println!(
                "{name}: {text_of_pipeline}: {} edits, {} changed, {} left alone {:?}",
                output.edits,
                output.changed,
                output.left_alone,
                left.first()
            );
            if let Err(error) = Module::read(&name, &output.text) {
                failures.push(format!("{name}: {text_of_pipeline}: {error}"));
            }
            if let Some(ptxas) = ptxas.as_deref().filter(|_| is_taken && output.edits > 0)
                && let Err(message) = assembles(ptxas, &output.text, target)
            {
                if let Ok(folder) = std::env::var("PTX_FAILURES") {
                    let file =
                        format!("{}/{}-{}.ptx", folder, path.file_stem().unwrap_or_default().display(), failures.len());
                    let _ = fs::write(file, &output.text);
                }
                failures.push(format!("{name}: {text_of_pipeline}: {message}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Every kernel has a forecast. If `PTX_FORECASTS` names a file, these figures are written to it: file, kernel, most
/// live words, words that differ between threads, registers, instructions.
#[test]
fn forecasts() {
    let mut lines = String::new();
    for path in corpus() {
        let text = fs::read(&path).expect("the file can be read");
        let name = path.display().to_string();
        let module = Module::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let views: Vec<View<'_>> = module.bodies().iter().filter_map(|body| module.view(body).ok()).collect();
        let architecture = Architecture::by_name(module.target()).or_else(|_| Architecture::by_name("sm_90"));
        let case = Case { architecture: architecture.expect("is known"), max_registers: None };
        let functions = views.iter().map(|view| (&view.function, &*view.classification));
        for forecast in forecast(functions, &case).unwrap_or_else(|error| panic!("{name}: {error}")) {
            let feature = |name: &str| forecast.features.get(name);
            lines += &format!(
                "{name} {} {} {} {} {}\n",
                forecast.name,
                feature("words"),
                feature("varying_words"),
                forecast.registers,
                feature("instructions")
            );
        }
    }
    assert!(!lines.is_empty(), "tests/ptx has kernels");
    if let Ok(path) = std::env::var("PTX_FORECASTS") {
        fs::write(path, lines).expect("the file can be written");
    }
}

/// Prints a view with registers numbered in order of occurrence. The original numbers and names depend on the PTX
/// module.
fn renumbered(function: &Function) -> String {
    let text = function.to_string();
    let mut numbers = BTreeMap::new();
    let mut parts =
        text.lines().filter(|line| !line.starts_with("regs ")).flat_map(|line| line.split('%').chain(["\n"]));
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
        let next = numbers.len();
        if end > 0 {
            out += &format!("%{}", numbers.entry(&part[..end]).or_insert(next));
        }
        out += &part[end..];
    }
    out
}

/// Returns edits that give every operand a new register.
fn renamed(function: &Function) -> EditList {
    let mut edits = EditList::new(function);
    let new: Vec<VReg> = function.regs().map(|reg| edits.create_register(function.class(reg))).collect();
    for inst in function.insts() {
        for (number, operand) in function.operands(inst).iter().enumerate() {
            if let Some(reg) = operand.reg() {
                edits.push(Edit::SetRegister { inst, operand: number as u32, reg: new[reg.index()] });
            }
        }
    }
    edits.finish();
    edits
}

/// If every register gets another name, the PTX has the same meaning, and ptxas accepts it.
#[test]
fn all_registers_renamed() {
    let ptxas = ptxas();
    let (mut functions, mut tokens, mut left) = (0, 0, BTreeMap::<String, u64>::new());
    for path in corpus() {
        let text = fs::read(&path).expect("the file can be read");
        let name = path.display().to_string();
        let module = Module::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let (mut patch, mut before) = (Patch::default(), Vec::new());
        for body in module.bodies() {
            let Ok(view) = module.view(body) else { continue };
            let edits = renamed(&view.function);
            match module.edit(body, &view, &edits) {
                Ok(of_body) => {
                    functions += 1;
                    tokens += edits.edits().len();
                    before.push((body.name(module.file()).to_owned(), renumbered(&view.function)));
                    patch.append(of_body);
                }
                Err(reason) => *left.entry(reason).or_default() += 1,
            }
        }
        let changed = patch.apply(&text);
        let after = Module::read(&name, &changed).unwrap_or_else(|error| panic!("{error}"));
        for (of, expected) in before {
            let body = after.bodies().iter().find(|body| body.name(after.file()) == of).expect("it is still there");
            let view = after.view(body).unwrap_or_else(|reason| panic!("{name}: {of}: {reason}"));
            assert!(renumbered(&view.function) == expected, "{name}: {of}: the view differs");
        }
        if let Some(ptxas) = ptxas.as_deref().filter(|ptxas| assembles(ptxas, &text, module.target()).is_ok()) {
            assembles(ptxas, &changed, module.target()).unwrap_or_else(|message| panic!("{name}: {message}"));
        }
    }
    println!("{functions} functions, {tokens} edits; left alone: {left:?}");
    assert!(functions > 0, "tests/ptx has functions");
}
