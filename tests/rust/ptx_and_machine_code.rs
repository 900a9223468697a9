//! Passes get the same facts about each instruction from PTX as from the LLVM machine code from which the PTX was
//! printed.
//!
//! Set `PTX_AND_VIEWS` to a folder to test more than the files of tests/ptx. For each `NAME.ptx` in the folder,
//! `NAME.views` is the output of `llc -load-pass-plugin=libnvptx_ra.so -nvptx-ra-trace=view -nvptx-ra-rename` on the
//! same compilation. `llc` prints the instructions in the order of the last view, which is that of `nvptx-rename`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nvptx_ra::function::{Effects, Function, Inst, Role};
use nvptx_ra::ptx::Module;
use nvptx_ra::target::{Classification, CopyFamily, OpcodeInfo, Purity};

/// Returns the views that a pass printed. A view follows the line that names its pass; other lines of the pass are
/// skipped.
fn views_of(pass: &str, text: &str) -> Vec<Function> {
    let traces = text.split("nvptx-ra: ").filter_map(|trace| trace.strip_prefix(pass));
    let function = |trace: &str| {
        let start = trace.find("mfv 1")?;
        let end = start + trace[start..].find("\nend\n")? + "\nend\n".len();
        Some(Function::parse(&trace[start..end]).unwrap_or_else(|error| panic!("{error}")))
    };
    traces.filter_map(function).collect()
}

fn opcode_of(function: &Function, inst: Inst) -> &str {
    function.opcodes().name(function.opcode(inst))
}

/// Returns the instructions that appear in the PTX, in order. `None` if the function has inline assembly or calls,
/// because its PTX then has other instructions.
fn printed(function: &Function) -> Option<Vec<Inst>> {
    let is_other = |inst: Inst| {
        function.effects(inst).contains(Effects::CALL_SEQUENCE) || opcode_of(function, inst).starts_with("INLINEASM")
    };
    if function.insts().any(is_other) {
        return None;
    }
    let is_printed = |&inst: &Inst| {
        // In PTX, a whole list of labels is a single instruction.
        let is_of_list = matches!(opcode_of(function, inst), "BRX_START" | "BRX_ITEM");
        let is_silent = matches!(function.role(inst), Role::Debug | Role::Undef) || opcode_of(function, inst) == "KILL";
        !is_of_list && !is_silent && !function.effects(inst).contains(Effects::META)
    };
    Some(function.insts().filter(is_printed).collect())
}

/// Returns the facts that passes use of an instruction, as text, and its kind of copy.
///
/// Whether a load may fault is omitted: LLVM knows that each parameter exists, but PTX does not state it.
fn facts(function: &Function, classification: &Classification, inst: Inst) -> (String, CopyFamily) {
    let info: OpcodeInfo = classification.of(function, inst);
    let written = function.operands(inst).iter().filter(|operand| operand.is_def()).count();
    let effects = function.effects(inst) - Effects::MAY_FAULT;
    let accesses = effects.intersects(Effects::READ | Effects::WRITE);
    let space = accesses.then(|| function.memory_space(inst));
    let OpcodeInfo { remat, uniformity, has_uniform_form, .. } = info;
    (format!("{written} written, {effects:?}, {space:?}, {remat:?}, {uniformity:?}, {has_uniform_form}"), info.family)
}

/// Whether PTX and machine code may show the same copy as these two kinds.
fn is_known_difference(llvm: CopyFamily, text: CopyFamily) -> bool {
    use CopyFamily::{FrameAddress, NotCopy, Parameter, Symbol};
    // A stack address is an addition in PTX. LLVM uses the same opcode for the address of a symbol and the address of a
    // parameter.
    llvm == text || matches!((llvm, text), (FrameAddress, NotCopy) | (Symbol, Parameter))
}

fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let more = std::env::var("PTX_AND_VIEWS").ok().map(PathBuf::from);
    let mut pairs = Vec::new();
    for folder in std::iter::once(own).chain(more) {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let texts = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let pair = |text: PathBuf| (text.with_extension("views"), text);
        pairs.extend(texts.filter(|path| path.extension().is_some_and(|end| end == "ptx")).map(pair));
    }
    pairs.retain(|(views, _)| views.exists());
    pairs.sort();
    pairs
}

/// The table of PTX mnemonics and the table of LLVM opcodes agree on every instruction.
#[test]
fn tables_agree() {
    let (mut compared, mut unknown, mut functions, mut left) = (0, 0, 0, 0);
    let mut different: BTreeMap<String, u64> = BTreeMap::new();
    for (views, text) in pairs() {
        let path = text.display().to_string();
        let bytes = fs::read(&text).expect("the file can be read");
        let module = Module::read(&path, &bytes).unwrap_or_else(|error| panic!("{error}"));
        let views = views_of("nvptx-rename of ", &fs::read_to_string(&views).expect("the file can be read"));
        for body in module.bodies() {
            let name = body.name(module.file());
            let Some(llvm) = views.iter().find(|view| view.name() == name) else { continue };
            let view = module.view(body).unwrap_or_else(|error| panic!("{name}: {error}"));
            let Some((theirs, own)) = printed(llvm).zip(printed(&view.function)) else {
                left += 1;
                continue;
            };
            functions += 1;
            assert_eq!(theirs.len(), own.len(), "{path}: {name}: instructions");
            let of_llvm = Classification::by_name(llvm.opcodes());
            for (&theirs, &own) in theirs.iter().zip(&own) {
                compared += 1;
                if of_llvm.of(llvm, theirs).purity == Purity::Unknown {
                    // An opcode without its own name. Its number changes from build to build.
                    unknown += 1;
                    continue;
                }
                let (opcode, mnemonic) = (opcode_of(llvm, theirs), opcode_of(&view.function, own));
                let (of_opcode, kind) = facts(llvm, &of_llvm, theirs);
                let (of_mnemonic, own_kind) = facts(&view.function, &view.classification, own);
                if (kind, own_kind) == (CopyFamily::StackAddress, CopyFamily::FrameAddress) {
                    // The start of the stack is the address with offset 0. It is uniform, because its inputs are the
                    // same in all threads.
                    continue;
                }
                if of_opcode != of_mnemonic || !is_known_difference(kind, own_kind) {
                    let kind = format!("{opcode} ({of_opcode}, {kind:?}) and {mnemonic} ({of_mnemonic}, {own_kind:?})");
                    *different.entry(kind).or_default() += 1;
                }
            }
        }
    }
    println!(
        "{compared} instructions of {functions} functions, {unknown} of unknown opcodes; {left} functions left out"
    );
    assert!(compared - unknown > 100, "{compared} instructions");
    let lines: Vec<String> = different.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    assert!(lines.is_empty(), "{} kinds differ:\n{}", lines.len(), lines.join("\n"));
}
