//! The command-line tool: compiles in process with the passes active, runs passes on PTX, replays functions, explains
//! options. Commands that need LLVM exist only with the feature `llvm`.

/// Writes a line to standard error. If the stream is closed (`2>&1 | head`), the work continues; `eprintln` would
/// panic. Control characters are escaped, and the line is printed above a progress bar.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let text = format!($($part)*);
        let line = nvptx_ra::printable::printable(&text);
        $crate::progress_bar::without(|| {
            let _ = writeln!(std::io::stderr(), "{line}");
        });
    }};
}

mod allocate;
mod bisect;
mod cache;
mod check_ptxas;
#[cfg(feature = "llvm")]
mod child_error;
#[cfg(test)]
mod child_tests;
#[cfg(feature = "llvm")]
mod codegen;
mod compare;
#[cfg(feature = "llvm")]
mod compile;
mod diff_ptxas;
mod dynamic_shared;
mod explain;
mod functions;
mod github;
#[cfg(test)]
#[path = "../../tests/rust/golden.rs"]
mod golden;
mod input;
mod interrupt;
mod kernel_names;
mod machine;
mod meaning;
#[cfg(feature = "llvm")]
mod mir;
mod ninja;
mod occupancy;
mod of_kernels;
mod optimum;
mod output;
mod page;
mod private_folder;
#[cfg(feature = "llvm")]
mod processor;
mod progress_bar;
mod ptx;
mod ptx_version;
mod ptxas;
mod ptxas_run;
mod ptxas_wrapper;
mod record;
mod releases;
mod replay;
mod report;
mod run;
mod stats;
mod threads;
mod time;
mod triton;
mod tune;
mod views;
mod wrap_cuda;

use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use nvptx_ra::error::Error;
use nvptx_ra::printable::printable;

// LLVM is linked before the crates' libraries. The loader searches the libraries in order for each of LLVM's many
// symbols, and stops at the first match.
#[cfg(feature = "llvm")]
#[expect(unsafe_code, reason = "nothing is declared: it only says what to link first")]
#[link(name = "LLVM-22")]
unsafe extern "C" {}

/// Reports and improves kernels' registers between LLVM and ptxas: forecasts, tuning, and compilation of LLVM IR to PTX
///
/// The same passes run as a plugin: clang -fpass-plugin=libnvptx_ra.so, llc -load-pass-plugin=libnvptx_ra.so.
#[derive(Parser)]
#[command(name = "nvptx-ra", version = VERSION.as_str(), arg_required_else_help = true)]
#[command(
    after_help = "The environment variable NVPTX_RA_LOG sets what is logged to standard error, e.g. NVPTX_RA_LOG=debug."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Allocate(allocate::Arguments),
    Bisect(bisect::Arguments),
    Cache(ptxas_wrapper::cache_summary::Arguments),
    CheckPtxas(check_ptxas::Arguments),
    Compare(compare::Arguments),
    #[cfg(feature = "llvm")]
    Compile(compile::Arguments),
    DiffPtxas(diff_ptxas::Arguments),
    Explain(explain::Arguments),
    #[cfg(feature = "llvm")]
    #[command(hide = true)]
    ForkServer(tune::fork_server::Arguments),
    Judge(tune::judge_command::Arguments),
    #[cfg(feature = "llvm")]
    Mir(mir::Arguments),
    #[command(hide = true)]
    Occupancy(occupancy::Arguments),
    #[cfg(feature = "llvm")]
    #[command(hide = true)]
    Optimise(tune::optimise::Arguments),
    Optimum(optimum::Arguments),
    Ptx(ptx::Arguments),
    Ptxas(ptxas_wrapper::Arguments),
    Replay(replay::Arguments),
    Report(report::Arguments),
    Run(run::Arguments),
    Search(ptxas_wrapper::search::Arguments),
    Stats(stats::Arguments),
    Time(time::Arguments),
    Tune(Box<tune::Arguments>),
    WrapCuda(wrap_cuda::Arguments),
}

fn main() -> ExitCode {
    // This call comes first, because the ptxas wrapper must cost a build as little as possible, and because its
    // arguments are ptxas's arguments.
    if let Some(arguments) = ptxas_wrapper::arguments_for_ptxas(std::env::args_os()) {
        return end(ptxas_wrapper::run(arguments));
    }
    nvptx_ra::logging::start();
    #[cfg(feature = "llvm")]
    nvptx_ra::ffi::serve_tool();
    let arguments = ptx::spelled_as_here(std::env::args_os());
    let result = match Arguments::parse_from(arguments).command {
        Command::Allocate(arguments) => allocate::run(&arguments),
        Command::Bisect(arguments) => bisect::run(&arguments),
        Command::Cache(arguments) => ptxas_wrapper::cache_summary::run(&arguments),
        Command::CheckPtxas(arguments) => check_ptxas::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        #[cfg(feature = "llvm")]
        Command::Compile(arguments) => compile::run(&arguments),
        Command::DiffPtxas(arguments) => diff_ptxas::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        #[cfg(feature = "llvm")]
        Command::ForkServer(arguments) => tune::fork_server::run(&arguments),
        Command::Judge(arguments) => tune::judge_command::run(&arguments),
        #[cfg(feature = "llvm")]
        Command::Mir(arguments) => mir::run(&arguments),
        Command::Occupancy(arguments) => occupancy::run(&arguments),
        #[cfg(feature = "llvm")]
        Command::Optimise(arguments) => tune::optimise::run(&arguments),
        Command::Optimum(arguments) => optimum::run(&arguments),
        Command::Ptx(arguments) => ptx::run(&arguments),
        Command::Ptxas(arguments) => ptxas_wrapper::run(arguments.all),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Search(arguments) => ptxas_wrapper::search::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Time(arguments) => time::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::WrapCuda(arguments) => wrap_cuda::run(&arguments),
    };
    end(result)
}

fn end(result: Result<ExitCode, Error>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say!("{error}");
        ExitCode::FAILURE
    })
}

/// Returns the exit code of a checking command: 1 if a check fails, 2 if a check is impossible.
fn exit_code(has_failed: bool, is_blind: bool) -> ExitCode {
    const BLIND: u8 = 2;
    match (has_failed, is_blind) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(BLIND),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// Version of this project, for a build without LLVM.
#[cfg(not(feature = "llvm"))]
static VERSION: LazyLock<String> = LazyLock::new(|| format!("{} (without LLVM)", nvptx_ra::VERSION));

/// Version of this project and of the loaded LLVM.
#[cfg(feature = "llvm")]
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{} (LLVM {major}.{minor}.{patch})", nvptx_ra::VERSION)
});

/// Writes text to standard output, with control characters escaped.
fn print_text(text: &str) -> Result<ExitCode, Error> {
    print(printable(text).as_bytes())
}

/// Writes data to standard output. A closed stream (`| head`) is no error.
fn print(text: &[u8]) -> Result<ExitCode, Error> {
    use std::io::Write as _;
    let mut output = std::io::stdout().lock();
    match output.write_all(text).and_then(|()| output.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Error::file("standard output".as_ref(), &error)),
    }
}

#[cfg(all(test, feature = "llvm"))]
mod tests {
    use clap::CommandFactory as _;

    use super::{Arguments, golden};

    /// The help of every command equals `tests/golden/help.txt`, so that changes are reviewed together.
    /// `UPDATE_EXPECT=1` rewrites the file.
    #[test]
    fn help_is_read_in_a_row() {
        let mut command = Arguments::command().version("");
        let mut page = command.render_long_help().to_string();
        for name in [
            "compile",
            "report",
            "tune",
            "ptxas",
            "search",
            "wrap-cuda",
            "cache",
            "bisect",
            "allocate",
            "replay",
            "mir",
            "ptx",
            "compare",
            "diff-ptxas",
            "run",
            "time",
            "judge",
            "optimum",
            "stats",
            "explain",
        ] {
            let subcommand = command.find_subcommand_mut(name).expect("a command");
            page += &format!("\n=== nvptx-ra {name}\n\n{}", subcommand.render_long_help());
        }
        let page: String = page.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        golden::expect("help.txt", &page);
    }
}
