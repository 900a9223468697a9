//! ptxas itself confirms which registers an instruction reads and writes: the machine code of small kernels must agree
//! with every claim of the view.
//!
//! tests/ptx/instructions.txt has an instruction for each mnemonic of the table. A kernel loads each register from its
//! own address, runs the instruction and stores all registers. If the view says that a register is written and its old
//! value is not read, a load from another address must not change the machine code. If the view says that a register is
//! not written, the kernel may instead store a copy of the register from before the instruction. This must not change
//! the machine code either.
//!
//! Skipped if ptxas of CUDA 13 is missing (`scripts/setup.sh cuda` installs it), and with `PTXAS=skip` in the
//! environment. With `PTXAS=required`, as in a step of `make check`, a missing ptxas is a failure.

use super::cuda;
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use nvptx_ra::function::{Function, Inst, VReg};
use nvptx_ra::ptx::Module;

/// Returns the instructions of the list by processor, with patterns expanded.
fn instructions() -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/instructions.txt");
    let text = fs::read_to_string(path).expect("the list can be read");
    let (mut all, mut processor) = (BTreeMap::<String, Vec<String>>::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            processor = name.trim_end_matches(']').to_owned();
            continue;
        }
        let guard = if line.starts_with('@') { line.find(' ').map_or(0, |at| at + 1) } else { 0 };
        let end = line[guard..].find([' ', ';']).map_or(line.len(), |at| guard + at);
        for mnemonic in expanded(&line[guard..end]) {
            let instruction = format!("{}{mnemonic}{}", &line[..guard], &line[end..]);
            all.entry(processor.clone()).or_default().push(instruction);
        }
    }
    all
}

/// Expands a pattern: `{a,b}` stands for `a` and for `b`.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (choices, after) = rest.split_once('}').expect("a closed brace");
    let tails = expanded(after);
    let joined = |choice: &str| tails.iter().map(|tail| format!("{before}{choice}{tail}")).collect::<Vec<_>>();
    choices.split(',').flat_map(joined).collect()
}

/// A register of an instruction: the letter of its class, and its number.
type Register = (char, u32);

/// Returns the registers of an instruction, by number.
fn registers(instruction: &str) -> Vec<Register> {
    let mut found: Vec<Register> = Vec::new();
    for word in instruction.split('%').skip(1) {
        let digits = word[1..].split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        let Ok(number) = digits.parse() else { continue };
        let register = (word.chars().next().expect("a letter"), number);
        if !found.contains(&register) {
            found.push(register);
        }
    }
    found
}

/// Returns the PTX type of a class.
fn type_of(class: char) -> &'static str {
    match class {
        'p' => "pred",
        'h' => "b16",
        'r' => "b32",
        'd' => "b64",
        _ => "b128",
    }
}

/// Difference between a kernel and the plain kernel
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Variant {
    Plain,
    /// A register is loaded from another address.
    OtherValue(Register),
    /// A copy of a register, made before the instruction, is stored instead of the register.
    EarlyCopy(Register),
}

/// Returns a kernel around an instruction.
fn kernel(name: &str, instruction: &str, variant: Variant) -> String {
    let mut text = format!(".visible .entry {name}(.param .b64 to, .param .align 16 .b8 from[1024])\n{{\n");
    let registers = registers(instruction);
    text += ".reg .b64 %to; .reg .b32 %t;\n";
    for (class, number) in &registers {
        _ = write!(text, ".reg .{} %{class}{number}, %copy{number}; ", type_of(*class));
    }
    text += "\nld.param.b64 %to, [to];\n";
    for &(class, number) in &registers {
        let at = 16 * number + if variant == Variant::OtherValue((class, number)) { 512 } else { 0 };
        _ = match class {
            'p' => writeln!(text, "ld.param.b32 %t, [from+{at}]; setp.ne.b32 %p{number}, %t, 0;"),
            _ => writeln!(text, "ld.param.{} %{class}{number}, [from+{at}];", type_of(class)),
        };
    }
    if let Variant::EarlyCopy((class, number)) = variant {
        _ = writeln!(text, "mov.{} %copy{number}, %{class}{number};", type_of(class));
    }
    if instruction.ends_with(" T;") {
        text += "T: .branchtargets L, M;\n";
    }
    _ = writeln!(text, "{instruction}\nL:\nM:");
    for &(class, number) in &registers {
        let is_copy = variant == Variant::EarlyCopy((class, number));
        let register = if is_copy { format!("%copy{number}") } else { format!("%{class}{number}") };
        let at = 16 * number;
        _ = match class {
            'p' => writeln!(text, "selp.b32 %t, 1, 0, {register}; st.global.b32 [%to+{at}], %t;"),
            _ => writeln!(text, "st.global.{} [%to+{at}], {register};", type_of(class)),
        };
    }
    text + "ret;\n}\n"
}

/// Returns the head of a file of kernels.
fn head(processor: &str) -> String {
    format!(
        ".version 9.0\n.target {processor}\n.address_size 64\n\
         .func (.reg .b32 a) callee(.reg .b32 b)\n{{\n.reg .b32 t;\nadd.s32 a, b, 1;\nret;\n}}\n"
    )
}

/// Returns the variants whose machine code must equal that of the plain kernel, according to the view of the
/// instruction.
fn claims(processor: &str, instruction: &str) -> Vec<Variant> {
    let text = head(processor) + &kernel("k", instruction, Variant::Plain);
    let module = Module::read("kernel", text.as_bytes()).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let body = module.bodies().iter().find(|body| body.name(module.file()) == "k").expect("the kernel");
    let view = module.view(body).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let function = &view.function;
    let registers = registers(instruction);
    // The first instruction loads the address of the results. A load takes two instructions for a predicate, and one
    // for any other register.
    let count = |of: &[Register]| of.iter().map(|(class, _)| if *class == 'p' { 2 } else { 1 }).sum::<u32>();
    let inst = Inst(1 + count(&registers));
    let opcode = function.opcodes().name(function.opcode(inst));
    assert!(!opcode.ends_with("/?"), "{instruction}: {opcode}");
    let of = |number: usize, register: &Register| {
        let before = count(&registers[..number]);
        let is_predicate = register.0 == 'p';
        let loaded = written(function, Inst(1 + before + u32::from(is_predicate)));
        let stored = read(function, Inst(inst.0 + 1 + before));
        let operands = function.operands(inst);
        let is_written = operands.iter().any(|operand| operand.is_def() && operand.reg() == Some(stored));
        let is_read = operands.iter().any(|operand| !operand.is_def() && operand.reg() == Some(loaded));
        assert!(is_written || is_read, "{instruction}: {register:?} is neither read nor written");
        match (is_written, is_read) {
            (true, false) => Some(Variant::OtherValue(*register)),
            (false, _) => Some(Variant::EarlyCopy(*register)),
            (true, true) => None,
        }
    };
    registers.iter().enumerate().filter_map(|(number, register)| of(number, register)).collect()
}

/// Returns the register that an instruction writes.
fn written(function: &Function, inst: Inst) -> VReg {
    function.operands(inst).iter().find(|operand| operand.is_def()).and_then(|operand| operand.reg()).expect("a result")
}

/// Returns the register that an instruction stores or selects by. The address does not count.
fn read(function: &Function, inst: Inst) -> VReg {
    let address = written(function, Inst(0));
    let mut read =
        function.operands(inst).iter().filter(|operand| !operand.is_def()).filter_map(|operand| operand.reg());
    read.find(|&register| register != address).expect("a register")
}

/// Returns the machine code of each kernel of a file.
fn assembled(cuda: &Path, processor: &str, text: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("kernels.ptx"), folder.path().join("kernels.cubin"));
    fs::write(&input, text).expect("the file can be written");
    let mut ptxas = Command::new(cuda.join("ptxas"));
    let done = ptxas.arg(format!("-arch={processor}")).arg("-o").arg(&output).arg(&input).output().expect("ptxas runs");
    assert!(done.status.success(), "{processor}: {}", String::from_utf8_lossy(&done.stderr));
    let listed = Command::new(cuda.join("cuobjdump")).arg("-sass").arg(&output).output().expect("cuobjdump runs");
    let listing = String::from_utf8(listed.stdout).expect("text");
    let of_function = |part: &str| {
        let (name, lines) = part.split_once('\n').expect("a line");
        (name.trim().to_owned(), lines.lines().filter(|line| line.contains("/*")).collect())
    };
    listing.split("Function : ").skip(1).map(of_function).collect()
}

/// The view's claims about reads and writes hold in the machine code.
#[test]
fn reads_and_writes() {
    let Some(cuda) = cuda::programs(&["ptxas", "cuobjdump"]) else { return };
    let (mut count, mut wrong) = (0, Vec::new());
    for (processor, instructions) in instructions() {
        if processor == "none" {
            continue;
        }
        let (mut text, mut kernels) = (head(&processor), Vec::new());
        for (number, instruction) in instructions.iter().enumerate() {
            text += &kernel(&format!("k{number}"), instruction, Variant::Plain);
            for (place, variant) in claims(&processor, instruction).into_iter().enumerate() {
                let name = format!("k{number}_{place}");
                text += &kernel(&name, instruction, variant);
                kernels.push((number, name, variant));
            }
        }
        let code = assembled(&cuda, &processor, &text);
        for (number, name, variant) in kernels {
            count += 1;
            if code[&format!("k{number}")] != code[&name] {
                wrong.push(format!("{} {variant:?}", instructions[number]));
            }
        }
    }
    println!("{count} claims");
    assert!(wrong.is_empty(), "{} of {count} claims are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
