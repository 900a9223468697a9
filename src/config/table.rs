//! The table of all options: the one place that names them.
//!
//! A row gives the option's name, its field in [`Config`], type, default, range, unit and help (the documentation of
//! the field). Everything else is made from it: the `cl::opt` registration, the pass parameters, `nvptx-ra explain` and
//! docs/options.md.

use std::borrow::Cow;
use std::path::PathBuf;

use super::budget::RegisterBudget;
use super::optimisations::{Add, Skip};
use super::value::{Choice, Shape, Value, choices, flags};

choices! {
    /// Where the coalescer stands in the code generator's pipeline.
    pub enum CoalescerPosition {
        /// Ahead of LLVM's register coalescer, which does what is left.
        "before" => Before,
        /// Behind LLVM's register coalescer, as in NVIDIA's cicc.
        "after" => After,
        /// In the place of LLVM's register coalescer, for measuring.
        "instead" => Instead,
        /// Not in the pipeline.
        "off" => Off,
    }
}

choices! {
    /// Which copies the coalescer tries first.
    pub enum Priority {
        /// By register number, then by weight: NVIDIA's order.
        "register" => Register,
        /// Those that run most often.
        "frequency" => Frequency,
    }
}

choices! {
    /// How PHIs are made ready for PHI elimination.
    pub enum DeSsa {
        /// Not at all: LLVM's PHI elimination copies every input and every result.
        "0" => Stock,
        /// Registers share a name where they are never live at the same time (Sreedhar et al. 1999).
        "1" => Liveness,
        /// Registers share a name where they never hold different values at the same time (Boissinot et al. 2009).
        "2" => Values,
    }
}

choices! {
    /// How the instructions of a block are ordered.
    pub enum Order {
        /// As LLVM has them.
        "source" => Source,
        /// Of the operands of an instruction, first the one whose computation takes the most registers.
        "sethi-ullman" => SethiUllman,
        /// From the end: what leaves the fewest registers live above it, with a look-ahead.
        "bottom-up" => BottomUp,
        /// From the start: what most has to wait for, while no more is live than in the order of the code.
        "latency" => Latency,
        /// Whatever may move, where it is first read.
        "late" => Late,
        /// What ends values where it can first do so, unless more is live behind it; the rest where it is first read.
        "eager" => Eager,
        /// Loads where they are first read.
        "loads-late" => LoadsLate,
        /// Loads behind one another, as far as that is possible.
        "loads-clustered" => LoadsClustered,
        /// That which the forecast clearly prefers, of those above; that of the code where it prefers none.
        "auto" => Auto,
    }
}

choices! {
    /// Where values that are cheap to compute are computed again instead of being kept.
    pub enum Remat {
        /// Nowhere.
        "off" => Off,
        /// Where at least seven eighths of the most words that are live anywhere are live.
        "peaks" => Peaks,
        /// Where at least half of the most words that are live anywhere are live.
        "high" => High,
    }
}

choices! {
    /// A fault to provoke, so that the handling of faults can be tested.
    pub enum Injection {
        /// No fault.
        "none" => None,
        /// The pass returns an error.
        "error" => Error,
        /// The pass panics.
        "panic" => Panic,
        /// The pass returns an error, and writing that into the statistics panics.
        "late-panic" => LatePanic,
    }
}

flags! {
    /// The phases whose decisions are printed to standard error.
    pub struct Trace {
        /// What each instruction is taken for.
        "classify" => CLASSIFY = 0,
        /// The live ranges.
        "liveness" => LIVENESS = 1,
        /// The copies that may be removed.
        "candidates" => CANDIDATES = 2,
        /// Each merge and each refusal with its reason.
        "coalesce" => COALESCE = 3,
        /// The edits that are handed back.
        "edits" => EDITS = 4,
        /// The function as the pass sees it, in the text form that `nvptx-ra replay` reads.
        "view" => VIEW = 5,
        /// How many names renaming leaves.
        "rename" => RENAME = 6,
        /// How many instructions another order moves.
        "schedule" => SCHEDULE = 7,
        /// How many values are computed again.
        "remat" => REMAT = 8,
    }
}

/// Where an option may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// As a pass parameter, on the command line, and as a function attribute.
    Function,
    /// As a pass parameter and on the command line: a module must not name files that the compiler writes.
    Trusted,
    /// On the command line only: it is read before there is a function.
    Process,
}

/// A row of the table.
#[derive(Debug)]
pub struct OptionSpec {
    /// The name: a pass parameter as it stands, a command-line option with `-nvptx-ra-` before it.
    pub name: &'static str,
    /// The pass that reads it; `None`: every pass.
    pub pass: Option<&'static str>,
    /// What it does.
    pub help: &'static str,
    /// What a value looks like.
    pub shape: Shape,
    /// What a number counts; empty for anything else.
    pub unit: &'static str,
    /// Where it may be given.
    pub scope: Scope,
    /// Only for the developers of this project.
    pub hidden: bool,
    set: fn(&mut Config, &str, &Shape) -> bool,
    get: fn(&Config) -> Cow<'static, str>,
}

impl OptionSpec {
    /// The text of the option's value in `config`; empty for a path that is not given.
    pub fn value(&self, config: &Config) -> Cow<'static, str> {
        (self.get)(config)
    }

    /// Gives the option a value; false where the text is none.
    pub(super) fn set(&self, config: &mut Config, value: &str) -> bool {
        (self.set)(config, value, &self.shape)
    }
}

/// The value of a row's part, or what it is where the row leaves it out.
macro_rules! part {
    ($default:expr) => {
        $default
    };
    ($default:expr, $given:expr) => {
        $given
    };
}

/// Makes [`Config`], its defaults and [`OPTIONS`] of the rows.
macro_rules! options {
    ($($pass:expr => {$(
        $(#[doc = $help:literal])+
        $name:literal => $field:ident: $type:ty = $default:expr
            $(, range $range:expr)? $(, unit $unit:literal)? $(, scope $scope:ident)? $(, hidden $hidden:literal)?;
    )+})+) => {
        /// What the passes do: one field per option. Made by [`Config::resolve`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            /// Whether the passes may touch the function at all: not where its attribute `"nvptx-ra"` is `off`.
            pub enabled: bool,
            $($($(#[doc = $help])+ pub $field: $type,)+)+
        }

        impl Default for Config {
            fn default() -> Self {
                Self { enabled: true, $($($field: $default,)+)+ }
            }
        }

        /// All options, in the order in which they are printed.
        pub static OPTIONS: &[OptionSpec] = &[$($(
            OptionSpec {
                name: $name,
                pass: $pass,
                help: concat!($($help),+).trim_ascii(),
                shape: <$type as Value>::SHAPE$(.within($range))?,
                unit: part!("" $(, $unit)?),
                scope: part!(Scope::Function $(, Scope::$scope)?),
                hidden: part!(false $(, $hidden)?),
                set: |config, text, shape| match Value::parse(text, shape) {
                    Some(value) => {
                        config.$field = value;
                        true
                    }
                    None => false,
                },
                get: |config| config.$field.print(),
            },
        )+)+];
    };
}

/// The name of the copy coalescer's pass.
pub const COPY_COALESCER: &str = "nvptx-copy-coalescer";

/// The name of the pass that makes PHI webs conventional.
pub const CSSA: &str = "nvptx-cssa";

/// The name of the pass that computes values again.
pub const REMAT: &str = "nvptx-remat";

/// The name of the pass that orders the instructions of blocks.
pub const SCHEDULE: &str = "nvptx-schedule";

/// The name of the pass that gives registers as few names as they need.
pub const RENAME: &str = "nvptx-rename";

/// The name of the pass that forecasts what ptxas will need.
pub const FORECAST: &str = "nvptx-forecast";

/// The name of the pass that prints the forecast.
pub const PRINT_FORECAST: &str = "print<nvptx-forecast>";

/// The name of the pass that applies edits given as text.
pub const APPLY_EDITS: &str = "nvptx-apply-edits";

const UNLIMITED: u32 = u32::MAX;

options! {
    None => {
        /// Changes functions marked optnone too, which are otherwise left alone.
        "optnone" => optnone: bool = false;
        /// Makes every error fatal. Otherwise an error is a warning, and the function stays as LLVM made it.
        "strict" => strict: bool = false;
        /// Checks every change: the symbolic checker proves that the function computes the same, and LLVM's machine
        /// verifier runs before and after. Of a function that fails LLVM's verifier before, one line says so. Costs about
        /// as much time as the passes themselves.
        "verify" => verify: bool = false;
        /// Optimisations of LLVM that the function goes without, by the names that -opt-disable has for them. Some cost
        /// registers; which do differs from kernel to kernel: `nvptx-ra tune` tries them, and `auto` leaves some to the
        /// forecast, for which the module is compiled four times more.
        "skip" => skip: Skip = Skip::empty();
        /// Optimisations of LLVM on IR that the function gets on top, ahead of the code generator, in the order of this
        /// list; not at -O0. What each does to registers differs from kernel to kernel, too: `nvptx-ra tune` tries them.
        "add" => add: Add = Add::empty();
        /// Appends statistics to this file, one line of JSON per event, so that several compilers may share it;
        /// `nvptx-ra stats FILE` adds them up.
        "stats" => stats: Option<PathBuf> = None, scope Trusted;
        /// Prints the decisions of these phases to standard error.
        "trace" => trace: Trace = Trace::empty();
        /// The folder where an internal error writes its bundle (the function, the options, the versions); the
        /// system's folder for temporary files unless given.
        "bundle" => bundle: Option<PathBuf> = None, scope Trusted;
        /// Replays the choices that `nvptx-ra tune` found for each function and wrote to this file. Functions whose code
        /// is another one since are named in a warning and get the defaults.
        "profile" => profile: Option<PathBuf> = None, scope Process;
        /// Provokes a fault in each pass, to test that the function then stays as it was.
        "inject" => inject: Injection = Injection::None, hidden true;
    }
    Some(COPY_COALESCER) => {
        /// Where the coalescer stands in the pipeline. Read when the pipeline is built.
        "position" => position: CoalescerPosition = CoalescerPosition::After, scope Process;
        /// Coalesces copies at all.
        "join-liveintervals" => join_liveintervals: bool = true;
        /// Coalesces copies in blocks that only split an edge.
        "join-splitedges" => join_splitedges: bool = true;
        /// Coalesces copies whose registers live in several blocks; off leaves those within one block.
        "join-globalcopies" => join_globalcopies: bool = true;
        /// Lets a copy wait, among equals, whose one register no other copy names and whose other register is copied
        /// again in the same block: joining it first could block the others.
        "terminal-rule" => terminal_rule: bool = true;
        /// Writes a constant anew where that removes a copy or shortens a live range.
        "remat-constants" => remat_constants: bool = true;
        /// Follows the halves of wide registers through pack and unpack, so that round trips between them vanish.
        "wide-pairs" => wide_pairs: bool = true;
        /// Which copies are tried first.
        "priority" => priority: Priority = Priority::Frequency;
        /// Considers at most this many copies in a function; 0 considers all.
        "copy-limit" => copy_limit: u32 = 0, range 0..=UNLIMITED, unit "copies";
        /// Stops after this many merges in a function; 0 never stops.
        "coalesce-limit" => coalesce_limit: u32 = 0, range 0..=UNLIMITED, unit "merges";
        /// A constant with more copies than this has all of them replaced by the constant at once, without trying to
        /// merge any.
        "late-remat-update-threshold" => late_remat_update_threshold: u32 = 100, range 0..=UNLIMITED, unit "copies";
        /// A live range with more values than this is large: merges into it are counted.
        "large-interval-size-threshold" => large_interval_size_threshold: u32 = 100, range 0..=UNLIMITED, unit "values";
        /// A large live range takes part in at most this many merges, which bounds the time that huge functions need.
        "large-interval-freq-threshold" => large_interval_freq_threshold: u32 = 256, range 0..=UNLIMITED, unit "merges";
        /// Checks the coalescer's edits with the symbolic checker alone, without LLVM's machine verifier.
        "verify-coalescing" => verify_coalescing: bool = false;
    }
    Some(CSSA) => {
        /// Puts the pass into the pipeline. Not by default: on the kernels measured, the coalescer leaves as few copies
        /// without it.
        "cssa" => cssa: bool = false, scope Process;
        /// How PHIs are made ready for PHI elimination.
        "usedessa" => usedessa: DeSsa = DeSsa::Values;
        /// Lets the registers that a PHI connects share a name; off copies every input and every result.
        "cssa-coalesce" => cssa_coalesce: bool = true;
        /// Prints what becomes of PHIs to standard error: 1 counts them, 2 names each input and result that is copied.
        "cssa-verbosity" => cssa_verbosity: u32 = 0, range 0..=2, unit "level";
        /// Prints the function before its PHIs are touched.
        "dump-before-cssa" => dump_before_cssa: bool = false;
    }
    Some(REMAT) => {
        /// Where constants, addresses, parameters and simple arithmetic are computed again for those who read them, instead
        /// of being kept over points where much is live, 32 words at least: at most 16 times for a value, and once for 16
        /// instructions of the function. Not by default: of the kernels measured few spill less with it; `nvptx-ra tune`
        /// tries it.
        "remat" => remat: Remat = Remat::Off;
    }
    Some(SCHEDULE) => {
        /// How the instructions of each block are ordered. What ptxas makes of an order differs from kernel to kernel:
        /// `nvptx-ra tune` finds the best for each.
        "order" => order: Order = Order::Source;
        /// Changes the order at random, the same way for the same number; 0 leaves it as it is. By an even number
        /// instructions stray from their places, by an odd one half of the blocks get another order.
        "order-seed" => order_seed: u32 = 0, range 0..=UNLIMITED, unit "as a seed";
        /// Inline assembly that loads and does nothing else, as Triton has it for what is masked, changes places as
        /// other loads do where an order is asked for, even if it is volatile; not where it names memory among its
        /// clobbers.
        "assembly-loads" => assembly_loads: bool = false;
    }
    Some(RENAME) => {
        /// Lets registers that live within one block share names, operands of matrix instructions and of inline assembly
        /// apart: the PTX declares fewer, and is smaller. ptxas makes code with the same figures of it for 99 kernels in
        /// 100, and of the others for better and for worse. Off on the command line takes the pass out of the pipeline.
        "rename" => rename: bool = true;
        /// Lets all registers share names: the fewest names that there can be. ptxas then takes some decisions otherwise,
        /// for better and for worse.
        "rename-all" => rename_all: bool = false;
    }
    Some(FORECAST) => {
        /// Prints what ptxas will need for each kernel to standard error, and adds it to the statistics. The remarks of
        /// this pass, -Rpass-analysis=nvptx-forecast, say the same and need no option.
        "forecast" => forecast: bool = false, scope Process;
        /// The limit on registers (`.maxnreg`) that is set for kernels that have none and whose callees are all in the
        /// module. All machine functions then stay in memory until the last is made.
        "budget" => budget: RegisterBudget = RegisterBudget::Off, scope Process;
    }
    Some(APPLY_EDITS) => {
        /// The file of the edits to apply, in the text form of docs/mfv.md, to test how edits are applied.
        "edits" => edits: Option<PathBuf> = None, scope Trusted, hidden true;
    }
}
