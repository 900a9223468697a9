//! Tests invocations and their meaning, with examples and with random arguments.

use super::*;

fn read(arguments: &[&str]) -> Invocation {
    let files = |path: &Path| match path.to_str() {
        Some("o.txt") => Ok(b"-v -arch sm_90 \"b c.ptx\"".to_vec()),
        Some("again.txt") => Ok(b"-optf again.txt".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let takes_value = |name: &str| match name {
        "--hidden" => Some(true),
        "--flag" => Some(false),
        _ => None,
    };
    let exists = |name: &str| name == "here";
    let sources = ArgumentSources { open: &files, exists: &exists, takes_value: &takes_value };
    Invocation::read_with(arguments.iter().map(OsString::from).collect(), sources)
}

fn reason(arguments: &[&str]) -> String {
    match read(arguments).action {
        Action::PassThrough(reason) => reason,
        action => panic!("{arguments:?}: {action:?}"),
    }
}

/// A log line names the file and the processor, as far as they are known.
#[test]
fn what_a_line_is_about() {
    let about = |arguments: &[&str]| read(arguments).about();
    assert_eq!(about(&["-arch=sm_90", "/tmp/a.ptx"]), "/tmp/a.ptx for sm_90");
    assert_eq!(about(&["a.ptx", "b.ptx", "c.ptx", "-arch", "sm_80"]), "a.ptx and 2 more for sm_80");
    assert_eq!(about(&["-c", "-", "-arch=compute_90"]), "-");
    assert_eq!(about(&["--version"]), "");
}

/// The arguments that compilers pass to ptxas are understood.
#[test]
fn invocations_of_compilers() {
    let nvcc = read(&["-arch=sm_90", "-m64", "a.ptx", "-o", "a.cubin"]);
    assert_eq!((&nvcc.action, nvcc.processor.as_deref()), (&Action::Search, Some("sm_90")));
    assert_eq!(nvcc.output, Path::new("a.cubin"));
    assert_eq!(nvcc.options, ["-arch=sm_90", "-m64"]);
    assert!(!nvcc.is_relocatable);
    let separate = read(&["-arch=sm_90", "-m64", "--compile-only", "a.ptx", "-o", "a.cubin"]);
    assert!(separate.action == Action::Search && separate.is_relocatable);
    // `--compile-only` is part of the cache's key, and every variant gets it.
    assert_eq!(separate.options, ["-arch=sm_90", "-m64", "--compile-only"]);
    assert_eq!(separate.options_of_one_kernel, separate.options);
    assert_eq!(nvcc.inputs, [Input { source: Source::File("a.ptx".into()), text: Vec::new() }]);
    let clang = read(&["-m64", "-O3", "--gpu-name", "sm_90", "--output-file", "k.o", "k.s"]);
    assert_eq!((clang.action, clang.level), (Action::Search, 3));
    let triton = read(&["-lineinfo", "--fmad=false", "-v", "--gpu-name=sm_90a", "x.ptx", "-o", "x.ptx.o"]);
    assert!(triton.verbose && triton.action == Action::Search);
    assert_eq!(triton.options, ["-lineinfo", "--fmad=false", "--gpu-name=sm_90a"]);
}

/// Every variant gets options that are in no table, but not options that concern one run.
#[test]
fn hidden_options() {
    let triton = ["-lineinfo", "-v", "--regAllocOptLevel=2", "--gpu-name=sm_90a", "x.ptx", "-o", "x.ptx.o"];
    let triton = read(&triton);
    assert_eq!(triton.action, Action::Search);
    assert_eq!(triton.options, ["-lineinfo", "--regAllocOptLevel=2", "--gpu-name=sm_90a"]);
    assert_eq!(triton.inputs.len(), 1);
    let apart = read(&["--hidden", "-o", "--flag", "-e", "k", "a.ptx"]);
    assert_eq!((apart.action, apart.output.as_path()), (Action::Search, Path::new("elf.o")));
    assert_eq!(apart.options, ["--hidden", "-o", "--flag", "-e", "k"]);
    assert_eq!(apart.options_of_one_kernel, ["--hidden", "-o", "--flag"]);
    let traced = read(&["--fdevice-time-trace", "t.json", "-compilerStats=t", "--apply-controls", "c.acf", "a.ptx"]);
    assert_eq!(traced.action, Action::Search);
    assert_eq!(traced.options, ["--apply-controls", "c.acf"]);
    assert_eq!(traced.options_of_one_run, ["--fdevice-time-trace", "t.json", "-compilerStats=t"]);
    assert_eq!(traced.files, [Path::new("c.acf")]);
}

/// Each kernel is judged separately, with any selection of kernels.
#[test]
fn names_of_kernels_are_left_out() {
    let invocation = read(&["-e", "a", "--fmad", "false", "--entry=b", "-e=c", "--entry", "d", "-O3", "a.ptx"]);
    assert_eq!(invocation.options_of_one_kernel, ["--fmad", "false", "-O3"]);
}

/// Bounds, kernels and other options are stored. Each has its last value, and the contents of options files replace the
/// files.
#[test]
fn meanings() {
    let all = read(&[
        "-maxrregcount=64",
        "--maxrregcount",
        "32",
        "-maxntid",
        "128,2",
        "-minnctapersm=2",
        "-e",
        "ka,kb",
        "-e",
        "kc",
        "-override-directive-values",
        "-regUsageLevel",
        "3",
        "-Werror",
        "-w",
        "-warn-spills",
        "-warn-lmem-usage",
        "-split-compile=4",
        "-jobserver",
        "-O2",
        "-Ofc=0",
        "-optf",
        "o.txt",
        "a.ptx",
    ]);
    assert_eq!(all.action, Action::Search);
    let bounds = Bounds { registers: Some(32), threads: vec![128, 2], blocks: Some(2), override_directives: true };
    assert_eq!(all.bounds, bounds);
    assert_eq!(all.entries, ["ka", "kb", "kc"]);
    assert_eq!((all.register_usage, all.split_compile, all.level), (Some(3), Some(4), 2));
    assert!(all.warnings_as_errors && all.no_warnings && all.warn_on_spills && all.warn_on_local_memory);
    assert!(all.jobserver && all.verbose && all.output == Path::new("elf.o"));
    assert_eq!(all.processor.as_deref(), Some("sm_90"));
    let sources: Vec<&Source> = all.inputs.iter().map(|input| &input.source).collect();
    let files = ["b c.ptx", "a.ptx"].map(|name| Source::File(name.into()));
    assert_eq!(sources, [&files[0], &files[1]]);
    assert_eq!(all.options.last().map(String::as_str), Some("sm_90"));
    assert!(!all.options.iter().any(|option| ["-v", "-o", "-optf"].contains(&option.as_str())));
}

/// An invocation that is not searched contains a reason.
#[test]
fn reasons_to_pass_through() {
    let reasons: [(&[&str], &str); 18] = [
        (&["-c", "-ewp", "a.ptx"], "--extensible-whole-program: the result is linked later"),
        (&["-g", "a.ptx"], "--device-debug: it is for debugging"),
        (&["-O0", "a.ptx"], "--opt-level: the optimisation level is below 2"),
        (&["-O", "a.ptx"], "--opt-level: the value '' is not a decimal number"),
        (&["-Ofc=max", "a.ptx"], "--Ofast-compile: it asks for a fast compilation"),
        (&["-device-stack-protector", "true", "a.ptx"], "--device-stack-protector: it protects the stack"),
        (&["-arch=compute_90", "a.ptx"], "--gpu-name: no machine code is made"),
        (&["-maxrregcount=archmax", "a.ptx"], "--maxrregcount: the value 'archmax' is not a decimal number"),
        (&["--new-option", "a.ptx"], "--new-option is not known"),
        (&["--hidden", "here", "a.ptx"], "--hidden: its value may name a file"),
        (&["--new-option=x/y", "a.ptx"], "--new-option: its value may name a file"),
        (&["--write-trace=x", "a.ptx"], "--write-trace: it may write a file"),
        (&["-optf", "none.txt"], "none.txt: entity not found"),
        (&["-optf", "again.txt"], "options files include each other"),
        (&["-v"], "there is no input"),
        (&["-", "-"], "the standard input can only be read once"),
        (&["-ias", ".version 9.0", "a.ptx"], "inputs are both files and strings"),
        (&["-h", "-V"], "--help: it only asks for information"),
    ];
    for (arguments, expected) in reasons {
        assert_eq!(reason(arguments), expected, "{arguments:?}");
    }
    assert_eq!(read(&["-g", "-V", "a.ptx"]).action, Action::Version);
    assert_eq!(read(&["--version"]).action, Action::Version);
    assert_eq!(reason(&["-V", "--new-option"]), "--new-option is not known");
    assert_eq!(read(&["-device-stack-protector=false", "a.ptx"]).action, Action::Search);
    let string = Input { source: Source::Argument, text: b".version 9.0".to_vec() };
    assert_eq!(read(&["-ias", ".version 9.0"]).inputs, [string]);
}

/// The arguments are kept verbatim, even if they are not valid UTF-8.
#[test]
fn arguments_are_kept() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = vec![OsString::from_vec(b"\xff.ptx".to_vec()), "-v".into()];
    let invocation = Invocation::read(odd.clone(), &|_| None);
    assert_eq!(invocation.arguments, odd);
    assert_eq!(invocation.action, Action::PassThrough("an argument is not UTF-8".into()));
}

/// Words of command lines, valid and invalid.
const WORDS: [&str; 30] = [
    "a.ptx",
    "b.ptx",
    "-v",
    "-o",
    "x.o",
    "-o=y.o",
    "--output-file=z.o",
    "-O3",
    "-O",
    "3",
    "-O=2",
    "-m64",
    "-m",
    "64",
    "-arch",
    "sm_90",
    "-arch=sm_80",
    "-e",
    "ka",
    "-maxrregcount",
    "32",
    "-lineinfo",
    "-fmad=false",
    "-optf",
    "o.txt",
    "--verb",
    "--regAllocOptLevel",
    "--regAllocOptLevel=2",
    "-cloning",
    "-uumn",
];

/// For random arguments, the parsed parts add up to all arguments. If ptxas succeeds, it has written the parsed output.
/// If the arguments cannot be parsed, ptxas fails. If they are parsed, ptxas knows them.
#[test]
fn ptxas_reads_the_same() {
    let ptxas = crate::ptxas_wrapper::tests::ptxas();
    let folder = tempfile::tempdir().expect("there is space");
    let path = |name: &str| folder.path().join(name);
    let write_inputs = || {
        for name in ["a", "b"] {
            let text = format!(".version 8.0\n.target sm_75\n.address_size 64\n.entry k{name}()\n{{\nret;\n}}\n");
            std::fs::write(path(&format!("{name}.ptx")), text).expect("there is space");
        }
    };
    std::fs::write(path("o.txt"), "-arch sm_90 -o w.o").expect("there is space");
    let open = |name: &Path| std::fs::read(folder.path().join(name));
    arbtest::arbtest(|u| {
        let count = u.int_in_range(1..=5)?;
        let chosen: Vec<&str> = (0..count).map(|_| u.choose(&WORDS).copied()).collect::<Result<_, _>>()?;
        let arguments: Vec<String> = chosen.iter().map(|&word| word.to_owned()).collect();
        let takes_value = |name: &str| {
            let ptxas = std::process::Command::new(ptxas.as_ref()?);
            crate::ptxas_wrapper::real_ptxas::takes_value(ptxas, name)
        };
        let exists = |name: &str| folder.path().join(name).exists();
        let sources = ArgumentSources { open: &open, exists: &exists, takes_value: &takes_value };
        let read = argument_parser::read(&arguments, sources);
        if let Ok(read) = &read {
            let said = read.iter().flat_map(|word| match word {
                ParsedArgument::Input(name) => vec![name.clone()],
                ParsedArgument::Option { spelling, .. } | ParsedArgument::Unknown { spelling, .. } => spelling.clone(),
            });
            assert_eq!(said.collect::<Vec<_>>(), arguments);
        }
        let Some(ptxas) = &ptxas else { return Ok(()) };
        // An output may have the name of an input.
        write_inputs();
        let mut command = std::process::Command::new(ptxas);
        let done = command.args(&chosen).current_dir(folder.path()).output().expect("ptxas starts");
        let said = String::from_utf8_lossy(&done.stderr);
        let is_refused = ["Unknown option", "argument expected after"].iter().any(|reason| said.contains(reason));
        // ptxas reports one reason, which may be a wrong value and not an unknown option.
        let is_right = if read.is_ok() { !is_refused } else { !done.status.success() };
        assert!(is_right, "{chosen:?}: {said}");
        let invocation = Invocation::read_with(chosen.iter().map(OsString::from).collect(), sources);
        if done.status.success() && invocation.action == Action::Search {
            let written = std::fs::remove_file(folder.path().join(&invocation.output));
            assert!(written.is_ok(), "{chosen:?}: {} is missing", invocation.output.display());
        }
        for name in ["x.o", "y.o", "z.o", "w.o", "elf.o"] {
            let _ = std::fs::remove_file(path(name));
        }
        Ok(())
    })
    .budget_ms(3000);
}
