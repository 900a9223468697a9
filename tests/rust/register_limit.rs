//! Compares the model of register limits with ptxas itself, on kernels that need more registers than the limit, with
//! every combination of directives and options.
//!
//! Skipped if ptxas of CUDA 13 is missing (`scripts/setup.sh cuda` installs it), and with `PTXAS=skip` in the
//! environment. With `PTXAS=required`, as in a step of `make check`, a missing ptxas is a failure.

use super::cuda;
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use nvptx_ra::error::Error;
use nvptx_ra::function::LaunchBounds;
use nvptx_ra::target::machine::{
    Architecture, Circumstances, CommandLine, Decider, Entry, Ignored, RegisterLimit, Repartition, RepartitionRefusal,
};

/// Returns ptxas. `None` if it is missing.
fn ptxas() -> Option<PathBuf> {
    cuda::programs(&["ptxas"]).map(|programs| programs.join("ptxas"))
}

/// Returns a kernel with these directives and first statements. `values` of its values are live over a loop.
fn kernel(name: &str, directives: &str, values: u32, first: &str) -> String {
    let mut text = format!(
        ".visible .entry {name}(.param .u64 p)\n{directives}\n{{\n.reg .u64 %rd<4>; .reg .u32 %i<4>;\n\
         .reg .pred %p<2>; .reg .f32 %f<{}>;\nld.param.u64 %rd0, [p]; cvta.to.global.u64 %rd1, %rd0;\n{first}\n",
        values + 1
    );
    let mut each = |line: &dyn Fn(u32) -> String| (0..values).for_each(|value| text += &line(value));
    each(&|value| format!("ld.volatile.global.f32 %f{value}, [%rd1+{}];\n", 128 * value));
    text += &format!("mov.u32 %i1, 0;\nL:\nld.volatile.global.f32 %f{values}, [%rd1];\n");
    let mut each = |line: &dyn Fn(u32) -> String| (0..values).for_each(|value| text += &line(value));
    each(&|value| format!("fma.rn.f32 %f{value}, %f{value}, %f{values}, %f{};\n", (value + 1) % values));
    text += "add.u32 %i1, %i1, 1; setp.lt.u32 %p0, %i1, 100; @%p0 bra L;\n";
    let mut each = |line: &dyn Fn(u32) -> String| (0..values).for_each(|value| text += &line(value));
    each(&|value| format!("st.volatile.global.f32 [%rd1+{}], %f{value};\n", 128 * value));
    text + "ret;\n}\n"
}

/// Assembles a file of kernels. Returns the register count of each assembled kernel, and all messages of ptxas.
fn assemble(
    ptxas: &Path,
    test: &str,
    processor: &str,
    kernels: &str,
    options: &[String],
) -> (BTreeMap<String, u32>, String) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test).with_extension("ptx");
    let head = format!(".version 8.8\n.target {processor}\n.address_size 64\n");
    std::fs::write(&place, head + kernels).expect("the file can be written");
    let output = Command::new(ptxas)
        .args(["-v", "-arch", processor, "-o", "/dev/null"])
        .args(options)
        .arg(&place)
        .output()
        .expect("ptxas starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let (mut used, mut name) = (BTreeMap::new(), None);
    for line in said.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            name = rest.split('\'').next().map(str::to_owned);
        }
        if let Some(registers) = line.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            used.extend(name.take().map(|name| (name, registers)));
        }
    }
    (used, said)
}

/// The combinations of directives. With 2048 threads, a thread has 32 registers, as with eight blocks of 256 threads.
/// With 1536 threads, it has 40.
fn bounds() -> Vec<LaunchBounds> {
    let mut all = Vec::new();
    let threads = [(None, None), (Some(256), None), (Some(2048), None), (None, Some(1536)), (Some(4096), None)];
    for (max_threads, required_threads) in threads {
        for min_blocks in [None, Some(1), Some(8), Some(33)] {
            for max_registers in [None, Some(8), Some(44), Some(300)] {
                all.push(LaunchBounds { max_threads, required_threads, min_blocks, max_registers });
            }
        }
    }
    all
}

fn directives(bounds: &LaunchBounds) -> String {
    let all = [
        (".maxntid", bounds.max_threads),
        (".reqntid", bounds.required_threads),
        (".minnctapersm", bounds.min_blocks),
        (".maxnreg", bounds.max_registers),
    ];
    all.iter().filter_map(|(name, value)| value.map(|value| format!("{name} {value}\n"))).collect()
}

/// The combinations of options.
fn command_lines() -> Vec<CommandLine> {
    let none = CommandLine::default();
    let registers = |limit| CommandLine { max_registers: Some(limit), ..none };
    let launch = CommandLine { max_threads: Some(512), min_blocks: Some(4), ..none };
    let threads = CommandLine { max_threads: Some(1600), min_blocks: None, ..launch };
    let overriding = |options| CommandLine { overrides: true, ..options };
    let both = CommandLine { max_registers: Some(42), ..launch };
    let plain = [none, registers(8), registers(42), registers(300), threads, launch, both];
    plain.into_iter().chain([registers(42), registers(300), threads, launch, both].map(overriding)).collect()
}

fn options(command_line: &CommandLine) -> Vec<String> {
    let all = [
        ("-maxrregcount", command_line.max_registers),
        ("-maxntid", command_line.max_threads),
        ("-minnctapersm", command_line.min_blocks),
    ];
    let given = all.iter().filter_map(|(name, value)| value.map(|value| format!("{name}={value}")));
    given.chain(command_line.overrides.then(|| "--override-directive-values".to_owned())).collect()
}

fn hopper() -> &'static Architecture {
    Architecture::by_name("sm_90").expect("is known")
}

/// Returns the warning that ptxas must print if it ignores a directive of a kernel. `None` if no such warning is
/// certain.
fn warning(ignored: Ignored, name: &str) -> Option<String> {
    Some(match ignored {
        Ignored::Threads(_) => format!("for entry {name} is out of range. .minnctapersm and .maxntid will be ignored"),
        // These warnings do not name the kernel, and ptxas sometimes omits them.
        Ignored::BlocksOfAnySize(_) | Ignored::CommandLine(_) => return None,
        Ignored::Blocks { blocks, .. } if blocks > 32 => {
            format!("Value of minnctapersm for entry {name} is out of range. minnctapersm will be ignored")
        }
        Ignored::Blocks { .. } => {
            format!("Value of threads per SM for entry {name} is out of range. .minnctapersm will")
        }
        Ignored::TooFew(limit) => format!("For entry {name} adjusting per thread register count of {limit} to lower"),
        Ignored::TooMany(_) => format!("Too many maxnreg specified for entry {name}, will be ignored"),
    })
}

/// For every combination of directives and options, the model's limit is that of ptxas: a kernel that needs more than
/// 44 registers gets exactly the limit, or more than 44 registers if the limit allows it. ptxas warns of everything
/// that the model lists as ignored.
#[test]
fn limits_are_those_of_ptxas() {
    let Some(ptxas) = ptxas() else { return };
    let bounds = bounds();
    let named: Vec<(String, &LaunchBounds)> =
        bounds.iter().enumerate().map(|(number, bounds)| (format!("k{number}"), bounds)).collect();
    let kernels: String = named.iter().map(|(name, bounds)| kernel(name, &directives(bounds), 38, "")).collect();
    let next = Mutex::new(command_lines().into_iter());
    // Two workers run in parallel, because this is the slowest of all tests.
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (ptxas, named, kernels, next) = (&ptxas, &named, &kernels, &next);
            scope.spawn(move || {
                loop {
                    let Some(command_line) = next.lock().expect("nobody panics with it").next() else { return };
                    let place = format!("limits{worker}");
                    let (used, said) = assemble(ptxas, &place, "sm_90", kernels, &options(&command_line));
                    assert_eq!(used.len(), named.len(), "{said}");
                    for (name, bounds) in named {
                        check_limit(name, bounds, &command_line, used[name], &said);
                    }
                }
            });
        }
    });
    println!("{} combinations compared", named.len() * command_lines().len());
}

fn check_limit(name: &str, bounds: &LaunchBounds, command_line: &CommandLine, used: u32, said: &str) {
    let limit = hopper().register_limit(bounds, command_line).expect("nothing is contradictory");
    let case = format!("ptxas {used}: {bounds:?} {command_line:?} {limit:?}");
    if limit.registers <= 44 {
        assert_eq!(used, limit.registers, "{case}");
    } else {
        assert!(used > 44, "{case}");
    }
    // A warning about an option contains no kernel name.
    let is_of_option = command_line.max_registers.is_some_and(|limit| !(24..=255).contains(&limit));
    let expected: Vec<String> = limit.ignored.iter().filter_map(|&ignored| warning(ignored, name)).collect();
    for warning in &expected {
        assert!(is_of_option || said.contains(warning), "{warning}: {case}\n{said}");
    }
    // ptxas does not warn about numbers of threads or blocks that the model accepts.
    let is_out_of_range = format!("for entry {name} is out of range");
    let is_expected = expected.iter().any(|warning| warning.contains(&is_out_of_range));
    assert!(is_expected || !said.contains(&is_out_of_range), "{case}\n{said}");
}

/// Results of ptxas for common bounds, recorded so that the test needs no ptxas.
#[test]
fn limits_known_by_heart() {
    let of = |threads, blocks, most, option| {
        let bounds =
            LaunchBounds { max_threads: threads, min_blocks: blocks, max_registers: most, ..LaunchBounds::default() };
        let options = CommandLine { max_registers: option, ..CommandLine::default() };
        let limit = hopper().register_limit(&bounds, &options).expect("nothing is contradictory");
        (limit.registers, limit.decider)
    };
    assert_eq!(of(None, None, None, None), (255, Decider::Machine));
    assert_eq!(of(None, Some(4), None, Some(40)), (40, Decider::CommandLine));
    assert_eq!(of(Some(512), None, None, Some(40)), (128, Decider::Threads));
    assert_eq!(of(Some(512), None, Some(200), Some(40)), (200, Decider::MaxRegisters));
    assert_eq!(of(Some(256), Some(2), Some(200), None), (128, Decider::Blocks));
    assert_eq!(of(Some(256), Some(2), Some(64), None), (64, Decider::MaxRegisters));
    assert_eq!(of(Some(1024), Some(3), None, None), (64, Decider::Threads));
    assert_eq!(of(Some(4096), Some(1), None, Some(40)), (40, Decider::CommandLine));
    assert_eq!(of(None, None, Some(8), None), (24, Decider::MaxRegisters));
}

/// Recorded results with launch options, and with settings that ptxas ignores.
#[test]
fn options_known_by_heart() {
    let of = |bounds: &LaunchBounds, options: &CommandLine| {
        let limit = hopper().register_limit(bounds, options).expect("nothing is contradictory");
        (limit.registers, limit.decider, limit.ignored)
    };
    let bounds = |threads, blocks| LaunchBounds { max_threads: threads, min_blocks: blocks, ..LaunchBounds::default() };
    let launch = CommandLine { max_threads: Some(512), min_blocks: Some(4), ..CommandLine::default() };
    // Options fill in missing directives. They override directives only on request.
    assert_eq!(of(&bounds(None, None), &launch), (32, Decider::Blocks, vec![]));
    assert_eq!(of(&bounds(Some(256), None), &launch), (64, Decider::Blocks, vec![]));
    let overriding = CommandLine { overrides: true, ..launch };
    assert_eq!(of(&bounds(Some(256), Some(1)), &overriding), (32, Decider::Blocks, vec![]));
    // With -maxrregcount, these options have no effect.
    let both = CommandLine { max_registers: Some(42), ..launch };
    assert_eq!(of(&bounds(None, None), &both), (42, Decider::CommandLine, vec![]));
    // The most threads that a multiprocessor holds, and one more.
    assert_eq!(of(&bounds(Some(2048), None), &CommandLine::default()), (32, Decider::Threads, vec![]));
    let ignored = vec![Ignored::Threads(2049)];
    assert_eq!(of(&bounds(Some(2049), None), &CommandLine::default()), (255, Decider::Machine, ignored));
    let ignored = vec![Ignored::Blocks { blocks: 3, threads: 1024 }];
    assert_eq!(of(&bounds(Some(1024), Some(3)), &CommandLine::default()), (64, Decider::Threads, ignored));
    let ignored = vec![Ignored::BlocksOfAnySize(2)];
    assert_eq!(of(&bounds(None, Some(2)), &CommandLine::default()), (255, Decider::Machine, ignored));
}

/// Kernels that need many registers reach the limit of their block size, and no kernel exceeds it.
#[test]
fn limits_by_threads_are_reached() {
    let Some(ptxas) = ptxas() else { return };
    for threads in [257, 640, 704, 1024, 1536, 2048] {
        let bounds = LaunchBounds { max_threads: Some(threads), ..LaunchBounds::default() };
        let limit = hopper().register_limit(&bounds, &CommandLine::default()).expect("nothing is contradictory");
        assert_eq!(limit.decider, Decider::Threads);
        let from = limit.registers - 16;
        let kernels: String = (from..limit.registers + 4)
            .step_by(2)
            .map(|values| kernel(&format!("k{values}"), &directives(&bounds), values, ""))
            .collect();
        let (used, said) = assemble(&ptxas, "threads", "sm_90", &kernels, &[]);
        assert_eq!(used.values().max(), Some(&limit.registers), "{threads} threads: {said}");
    }
}

/// The level of register usage, the cluster size, and a limit for device functions do not change the limit of a kernel.
#[test]
fn what_changes_no_limit() {
    let Some(ptxas) = ptxas() else { return };
    let clusters = ["", ".reqnctapercluster 8\n", ".reqnctapercluster 2\n.explicitcluster\n", ".maxclusterrank 4\n"];
    let cases = [(".maxnreg 40\n", 40), (".maxntid 1024\n", 64), (".maxntid 256\n.minnctapersm 4\n", 64)];
    let mut expected = BTreeMap::new();
    let mut kernels = String::new();
    for (number, cluster) in clusters.iter().enumerate() {
        for (of, (bounds, registers)) in cases.iter().enumerate() {
            let name = format!("k{number}_{of}");
            kernels += &kernel(&name, &format!("{cluster}{bounds}"), 62, "");
            expected.insert(name, *registers);
        }
    }
    for option in ["--register-usage-level=0", "--register-usage-level=10", "--device-function-maxrregcount=24"] {
        let (used, said) = assemble(&ptxas, "unchanged", "sm_90", &kernels, &[option.to_owned()]);
        assert_eq!(used, expected, "{option}: {said}");
    }
}

/// Returns a device function with `values` values that are live at once.
fn device_function(values: u32) -> String {
    let mut text = format!(
        ".visible .func f(.param .u64 p)\n{{\n.reg .u64 %rd<2>; .reg .f32 %f<{values}>;\nld.param.u64 %rd1, [p];\n"
    );
    for access in ["ld.volatile.global.f32 %fN, [%rd1+N];\n", "st.volatile.global.f32 [%rd1+N], %fN;\n"] {
        (0..values).for_each(|value| {
            text += &access.replace("+N", &format!("+{}", 4 * value)).replace('N', &value.to_string())
        });
    }
    text + "ret;\n}\n"
}

/// A device function without a kernel spills as with the model's limit. A patch for tools has the fewest registers;
/// ptxas refuses it kernels and a larger limit.
#[test]
fn device_functions_have_limits_of_their_own() {
    let none = CommandLine::default();
    let patch = CommandLine { tools_patch: true, ..none };
    let error = RegisterLimit::of_function(&CommandLine { max_registers: Some(64), ..patch }).expect_err("refused");
    assert!(error.to_string().contains("-maxrregcount 64 exceeds the limit of a patch for tools, 24"), "{error}");
    assert!(hopper().register_limit(&LaunchBounds::default(), &patch).is_err(), "a kernel in a patch");
    let Some(ptxas) = ptxas() else { return };
    let spilled = |options: &[&str]| -> Option<u32> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let (_, said) = assemble(&ptxas, "functions", "sm_90", &device_function(60), &options);
        said.split(" bytes spill stores").next()?.rsplit(' ').next()?.parse().ok()
    };
    let by_limit = |limit: u32| spilled(&["-c", &format!("-maxrregcount={limit}")]);
    assert!(by_limit(24) > by_limit(40) && by_limit(40) > by_limit(64) && by_limit(255) == Some(0));
    for (options, line) in [
        (vec!["-c"], none),
        (vec!["-c", "-maxrregcount=40"], CommandLine { max_registers: Some(40), ..none }),
        (vec!["-c", "-func-maxrregcount=16"], CommandLine { device_registers: Some(16), ..none }),
        (
            vec!["-c", "-func-maxrregcount=40", "-maxrregcount=64"],
            CommandLine { device_registers: Some(40), max_registers: Some(64), ..none },
        ),
        (vec!["--compile-as-tools-patch"], patch),
        (vec!["--compile-as-tools-patch", "-maxrregcount=16"], CommandLine { max_registers: Some(16), ..patch }),
    ] {
        let limit = RegisterLimit::of_function(&line).expect("nothing is refused");
        assert_eq!(spilled(&options), by_limit(limit.registers), "{options:?}: {limit:?}");
    }
    assert_eq!(spilled(&["--compile-as-tools-patch", "-maxrregcount=64"]), None);
    let text = kernel("k", "", 4, "");
    let (used, said) = assemble(&ptxas, "functions", "sm_90", &text, &["--compile-as-tools-patch".to_owned()]);
    assert!(used.is_empty() && said.contains("Entry function is not allowed"), "{said}");
}

/// ptxas refuses combinations that the model calls contradictions. It also refuses bounds of zero, which a view cannot
/// express.
#[test]
fn contradictions_are_refused() {
    let bounds = LaunchBounds { max_threads: Some(512), required_threads: Some(256), ..LaunchBounds::default() };
    let error = hopper().register_limit(&bounds, &CommandLine::default()).expect_err("both are there");
    assert!(error.to_string().contains("maxntid 512 and reqntid 256"), "{error}");
    let Some(ptxas) = ptxas() else { return };
    for (directives, message) in [
        (directives(&bounds).as_str(), ".maxntid and .reqntid cannot both be specified"),
        (".maxnreg 0", "Positive non-zero value expected for maxnreg"),
        (".reqnctapercluster 4\n.maxclusterrank 8", "cannot both be specified"),
    ] {
        let (used, said) = assemble(&ptxas, "contradictions", "sm_90", &kernel("k", directives, 4, ""), &[]);
        assert!(used.is_empty() && said.contains(message), "{directives}: {said}");
    }
}

/// Returns `setmaxnreg` statements as ptxas reads them.
fn statements(requests: &[Repartition]) -> String {
    requests.iter().fold(String::new(), |mut text, request| {
        let (direction, count) = match request {
            Repartition::Increase(count) => ("inc", count),
            Repartition::Decrease(count) => ("dec", count),
        };
        writeln!(text, "setmaxnreg.{direction}.sync.aligned.u32 {count};").expect("memory suffices");
        text
    })
}

/// The model's verdict on a kernel's `setmaxnreg` requests is that of ptxas.
#[test]
fn requests_for_registers_are_taken_as_ptxas_takes_them() {
    use Repartition::{Decrease, Increase};
    let Some(ptxas) = ptxas() else { return };
    let none = LaunchBounds::default();
    let limits = [
        none,
        LaunchBounds { max_threads: Some(384), ..none },
        LaunchBounds { max_threads: Some(384), min_blocks: Some(1), ..none },
        LaunchBounds { max_registers: Some(100), ..none },
        LaunchBounds { max_registers: Some(300), ..none },
        LaunchBounds { max_threads: Some(1024), min_blocks: Some(3), ..none },
    ];
    let requests: [&[Repartition]; 12] = [
        &[Decrease(40)],
        &[Decrease(200)],
        &[Decrease(256)],
        &[Decrease(24), Increase(240)],
        &[Increase(80)],
        &[Increase(256)],
        &[Decrease(104)],
        &[Increase(240), Decrease(200)],
        &[Decrease(160), Increase(80)],
        &[Decrease(16)],
        &[Decrease(44)],
        &[Increase(264)],
    ];
    let pointer = "{ .reg .u64 %t; ld.global.u64 %t, [%rd1]; T: .callprototype _ (); call.uni %t, (), T; }\n";
    for (options, first, circumstances) in [
        (vec![], "", Circumstances::default()),
        (vec!["-g".to_owned()], "", Circumstances { debugging: true, ..Circumstances::default() }),
        (vec!["-c".to_owned()], "", Circumstances { separate: true, ..Circumstances::default() }),
        (vec![], pointer, Circumstances { calls_unknown: true, ..Circumstances::default() }),
        (vec!["-c".to_owned()], pointer, Circumstances { debugging: false, separate: true, calls_unknown: true }),
        (vec!["-c".into(), "-g".into()], "", Circumstances { debugging: true, separate: true, calls_unknown: false }),
    ] {
        for bounds in &limits {
            for requests in requests {
                let text = kernel("k", &directives(bounds), 8, &(statements(requests) + first));
                let (used, said) = assemble(&ptxas, "requests", "sm_90a", &text, &options);
                let limit = hopper().register_limit(bounds, &CommandLine::default()).expect("nothing is contradictory");
                let entry = hopper().registers_at_entry(&limit, requests, circumstances);
                check_entry(
                    entry,
                    used.get("k").copied(),
                    &said,
                    &format!("{options:?} {first}{bounds:?} {requests:?}"),
                );
            }
        }
    }
    let too_old = Architecture::by_name("sm_89").expect("is known");
    let limit = too_old.register_limit(&none, &CommandLine::default()).expect("nothing is contradictory");
    assert!(too_old.registers_at_entry(&limit, &[Decrease(40)], Circumstances::default()).is_err());
}

fn check_entry(entry: Result<Entry, Error>, used: Option<u32>, said: &str, case: &str) {
    match entry {
        Err(error) => {
            assert!(used.is_none(), "{case}: {error}\n{said}");
            assert!(said.contains("C7406") || said.contains("Argument 1 of"), "{case}: {said}");
        }
        Ok(Entry::Registers(registers)) => {
            assert!(!said.contains("'setmaxnreg' ignored"), "{case}: {said}");
            assert_eq!(used, Some(registers), "{case}: {said}");
        }
        Ok(Entry::Ignored(refusal)) => {
            let number = match refusal {
                RepartitionRefusal::Separate => "C7504",
                RepartitionRefusal::Debugging => "C7505",
                RepartitionRefusal::UnknownCall => "C7506",
                RepartitionRefusal::EntryUnknown => "C7508",
            };
            assert!(used.is_some() && said.contains(number), "{number} {case}: {said}");
        }
    }
}
