//! The table of all options: the one place that names them.
//!
//! A row gives the option's name, its field in [`Config`], type, default, range, unit, audience and help (the documentation
//! of the field). Everything else is made from it: the `cl::opt` registration, the pass parameters, `nvptx-ra explain`,
//! docs/options.md and docs/options-for-developers.md.

use std::borrow::Cow;
use std::path::PathBuf;

use super::allocator_settings::AllocatorSettings;
use super::optimisations::{AddPasses, Inline, SkipPasses, Unroll};
use super::register_names::RegisterNames;
use super::value::{Choice, Shape, Value, choices, flags};
use super::word_or_number::{DynamicShared, RegisterBudget, RegisterTarget, Slack, Threads};

choices! {
    /// Where the coalescer stands in the code generator's pipeline.
    pub enum CoalescerPosition {
        /// Ahead of LLVM's register coalescer, which handles the remaining copies.
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
    /// Which values are kept in memory.
    pub enum Chooser {
        /// Those that move the fewest words for the instructions that they free registers for.
        "price" => Price,
        /// Those that the greedy allocator spills, the cheapest first.
        "greedy" => Greedy,
        /// Those that the Chaitin-Briggs allocator spills, the cheapest first.
        "briggs" => Briggs,
        /// Those that the fat-point allocator spills, the cheapest first.
        "fatpoint" => Fatpoint,
    }
}

choices! {
    /// The constants that `greedy`, `briggs` and `fatpoint` work with.
    pub enum PresetName {
        /// The documented limits of the hardware; spilling costs the words that it moves.
        "hw" => Hw,
        /// Those of NVIDIA's cicc, as its code is read: 8 predicates, halves packed, K = 15 in degree tests; spilling costs
        /// definitions times uses times latency.
        "cicc" => Cicc,
        /// Those of NVIDIA's ptxas, as its code is read: as `hw`, and no live range is split.
        "ptxas" => Ptxas,
    }
}

choices! {
    /// Whether values that are kept in memory may be stored and loaded in loops.
    pub enum KeepInLoops {
        /// Nowhere in a loop, unless a later one of `regalloc-trials` does so.
        "auto" => Auto,
        /// Nowhere in a loop.
        "off" => Off,
        /// Only where it happens four times more rarely than what it frees registers for.
        "around" => Around,
        /// Everywhere. Most kernels lose by it.
        "on" => On,
    }
}

choices! {
    /// Whether values with several definitions are kept in memory.
    pub enum Redefined {
        /// Not, unless a later one of `regalloc-trials` does so.
        "auto" => Auto,
        /// Not.
        "off" => Off,
        /// Stored behind each definition.
        "on" => On,
    }
}

choices! {
    /// Which loops end in the form that ptxas unrolls.
    pub enum LoopShape {
        /// Those that are likely to gain.
        "on" => On,
        /// Those, and loops whose copies may take more registers than there are: for a search, which measures that.
        "all" => All,
        /// None: loops stay as they come.
        "off" => Off,
    }
}

choices! {
    /// How PHIs are made ready for PHI elimination.
    pub enum CssaInterference {
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
        /// The operand whose computation takes the most registers comes first.
        "sethi-ullman" => SethiUllman,
        /// From the end of the block: the instruction that leaves the fewest registers live, with a look-ahead.
        "bottom-up" => BottomUp,
        /// From the start of the block: the longest path first, with no more registers live than in the order of the
        /// code.
        "latency" => Latency,
        /// Each instruction that may move stands directly before its first use.
        "late" => Late,
        /// Instructions that end live ranges come early unless that raises the pressure; all others as in `late`.
        "eager" => Eager,
        /// Each load stands directly before its first use.
        "loads-late" => LoadsLate,
        /// Loads stand together.
        "loads-clustered" => LoadsClustered,
    }
}

choices! {
    /// Where values that are cheap to compute are computed again instead of being kept.
    pub enum Remat {
        /// Nowhere.
        "off" => Off,
        /// Values of 64 bits that were computed from 32 alone, where at least six eighths of a thread's registers are live, in
        /// functions in which more is live somewhere than a thread may have. Sums of such values, in loops that read them once or
        /// twice. Comparisons, where more than thirteen predicates are live.
        "widened" => Widened,
        /// Where the pressure is at least seven eighths of the function's maximum.
        "peaks" => Peaks,
        /// Where the pressure is at least half of the function's maximum.
        "high" => High,
    }
}

choices! {
    /// Which predicates are kept as bits of general registers.
    pub enum BitSpill {
        /// None.
        "off" => Off,
        /// Those that several instructions define, on paths of their own, if the code gets shorter: constants set several at
        /// once. ptxas cannot compare these again. None where so many words are live, 7/5 of the registers, that ptxas may give
        /// registers up for warps.
        "auto" => Auto,
        /// All that are read in other blocks. ptxas may compare again for less than a bit costs; `nvptx-ra tune` tries it.
        "on" => On,
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
        /// The pass's edits are changed at random on their way to LLVM, and some are added; the function's name says which.
        "wrong-edits" => WrongEdits,
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
        /// Which values are kept in memory, and why there.
        "regalloc" => REGALLOC = 9,
        /// How many accesses to shared memory read another register.
        "shared-addresses" => SHARED_ADDRESSES = 10,
        /// How many texts of inline assembly lose their SIMD video instructions.
        "simd-video" => SIMD_VIDEO = 11,
        /// How many loops get the form that ptxas unrolls.
        "loop-shape" => LOOP_SHAPE = 12,
    }
}

flags! {
    /// Where values go that find no register.
    pub struct SpillTo {
        /// To shared memory, in slots of each thread. Only kernels that say how large their blocks are get any.
        "shared" => SHARED = 0,
        /// To local memory, at addresses that ptxas cannot see through, so that it does not undo it.
        "local" => LOCAL = 1,
        /// Nowhere: a value that is cheap to compute from what is live anyway is computed again where it is read.
        "remat" => REMAT = 2,
    }
}

flags! {
    /// What a compilation warns of.
    pub struct Warn {
        /// Of limits that what was asked for does not keep: registers for the operands of an instruction, shared memory for
        /// slots, and 64 KB of local memory for a frame with slots.
        "limits" => LIMITS = 0,
        /// Of kernels that ptxas is expected to spill: a forecast, which the line says.
        "spills" => SPILLS = 1,
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

/// Who sets an option. The compiler's help and docs/options.md have those for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Who compiles kernels, on a command line.
    Users,
    /// Profiles, the search, and who works on the passes or tests them: what no row says otherwise of.
    Developers,
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
    /// Who sets it.
    pub audience: Audience,
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
            $(, range $range:expr)? $(, unit $unit:literal)? $(, scope $scope:ident)? $(, audience $audience:ident)?;
    )+})+) => {
        /// What the passes do: one field per option. Made by [`Config::resolve`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            /// Whether the passes may touch the function at all: not where its attribute `"nvptx-ra"` is `off`.
            pub enabled: bool,
            $($($(#[doc = $help])+ pub $field: $type,)+)+
        }

        impl Config {
            /// What holds where no option is given.
            pub const DEFAULT: Self = Self { enabled: true, $($($field: $default,)+)+ };
        }

        impl Default for Config {
            fn default() -> Self {
                Self::DEFAULT
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
                audience: part!(Audience::Developers $(, Audience::$audience)?),
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

/// The name of the pass that computes SIMD video instructions in others.
pub const SIMD_VIDEO: &str = "nvptx-simd-video";

/// The name of the pass that gives shared addresses that differ by a number one register.
pub const SHARED_ADDRESSES: &str = "nvptx-shared-addresses";

/// The name of the pass that computes values again.
pub const REMAT: &str = "nvptx-remat";

/// The name of the pass that keeps values in memory.
pub const REGALLOC: &str = "nvptx-regalloc";
/// The name of the pass that orders the instructions of blocks.
pub const SCHEDULE: &str = "nvptx-schedule";

/// The name of the pass that gives loops the form that ptxas unrolls.
pub const LOOP_SHAPE: &str = "nvptx-loop-shape";

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
        "strict" => strict: bool = false, audience Users;
        /// What is warned of. With `strict`, a limit that does not hold is an error, and the function stays as LLVM made it.
        "warn" => warn: Warn = Warn::LIMITS, audience Users;
        /// Checks every change: the symbolic checker proves that the function computes the same, and LLVM's machine
        /// verifier runs before and after. One line names a function that fails LLVM's verifier before any change. The
        /// checks take about as long as the passes.
        "verify" => verify: bool = false, audience Users;
        /// Optimisations of LLVM that are left out for the function, by the names of -opt-disable. Some cost registers,
        /// but not in every kernel; `nvptx-ra tune` tries them.
        "skip-passes" => skip_passes: SkipPasses = SkipPasses::empty(), audience Users;
        /// Further optimisations of LLVM that run on the function's IR, ahead of the code generator, in the order of
        /// this list. They do nothing at -O0. Their effect on registers differs from kernel to kernel; `nvptx-ra tune`
        /// tries them.
        "add-passes" => add_passes: AddPasses = AddPasses::empty(), audience Users;
        /// Which calls LLVM inlines in a kernel and in the functions that it calls. Arrays whose address a call takes stay in
        /// local memory unless the call is inlined. Read ahead of LLVM's optimisations, so by clang and `opt`; a kernel's
        /// choice holds for everything that it calls. Functions marked noinline are never inlined.
        "inline" => inline: Inline = Inline::Llvm, audience Users;
        /// Which loops LLVM unrolls in a kernel and in the functions that it calls. Read ahead of LLVM's optimisations, as
        /// `inline` is.
        "unroll" => unroll: Unroll = Unroll::Llvm, audience Users;
        /// Appends statistics to this file, one line of JSON per event, so that several compilers may share it;
        /// `nvptx-ra stats FILE` adds them up.
        "stats" => stats: Option<PathBuf> = None, scope Trusted;
        /// Prints the decisions of these phases to standard error.
        "trace" => trace: Trace = Trace::empty();
        /// The folder where an internal error writes its bundle (the function, the options, the versions); the
        /// system's folder for temporary files unless given.
        "bundle" => bundle: Option<PathBuf> = None, scope Trusted;
        /// Replays the choices that `nvptx-ra tune` found for each function and wrote to this file. A function whose
        /// code has changed since gets the defaults, and a warning names it.
        "profile" => profile: Option<PathBuf> = None, scope Process, audience Users;
        /// Provokes a fault in each pass, to test that the function then stays as it was.
        "inject" => inject: Injection = Injection::None;
    }
    Some(COPY_COALESCER) => {
        /// Where the coalescer stands in the pipeline. Read when the pipeline is built.
        "position" => position: CoalescerPosition = CoalescerPosition::After, scope Process, audience Users;
        /// Coalesces copies. Off leaves all copies.
        "join-liveintervals" => join_liveintervals: bool = true;
        /// Coalesces copies in blocks that only split an edge.
        "join-splitedges" => join_splitedges: bool = true;
        /// Coalesces copies whose registers live in several blocks; off leaves those within one block.
        "join-globalcopies" => join_globalcopies: bool = true;
        /// Among copies of the same priority, tries those last that have a register in no other copy and whose other
        /// register is copied again in the same block: merging them first could block the others.
        "terminal-rule" => terminal_rule: bool = true;
        /// Rematerialises a constant if that removes a copy or shortens a live range.
        "remat-constants" => remat_constants: bool = true;
        /// Follows the halves of wide registers through pack and unpack, so that round trips between them vanish.
        "wide-pairs" => wide_pairs: bool = true;
        /// Which copies are tried first.
        "priority" => priority: Priority = Priority::Frequency;
        /// Considers at most this many copies in a function; 0 considers all.
        "copy-limit" => copy_limit: u32 = 0, range 0..=UNLIMITED, unit "copies";
        /// Stops after this many merges in a function; 0 never stops.
        "coalesce-limit" => coalesce_limit: u32 = 0, range 0..=UNLIMITED, unit "merges";
        /// If a constant has more copies than this, each copy is replaced by the constant, and no merge is tried.
        "late-remat-update-threshold" => late_remat_update_threshold: u32 = 100, range 0..=UNLIMITED, unit "copies";
        /// A live range with more values than this is large, and the number of merges into it is limited.
        "large-interval-size-threshold" => large_interval_size_threshold: u32 = 100, range 0..=UNLIMITED, unit "values";
        /// A large live range takes part in at most this many merges, which bounds the time that huge functions need.
        "large-interval-freq-threshold" => large_interval_freq_threshold: u32 = 256, range 0..=UNLIMITED, unit "merges";
        /// Checks the coalescer's edits with the symbolic checker alone, without LLVM's machine verifier.
        "verify-coalescing" => verify_coalescing: bool = false;
    }
    Some(CSSA) => {
        /// Puts the pass into the pipeline. Off by default, because the coalescer leaves as few copies without it on
        /// the kernels measured.
        "cssa" => cssa: bool = false, scope Process;
        /// How PHIs are made ready for PHI elimination.
        "cssa-interference" => cssa_interference: CssaInterference = CssaInterference::Values;
        /// Lets the registers that a PHI connects share a name; off copies every input and every result.
        "cssa-coalesce" => cssa_coalesce: bool = true;
        /// Prints what becomes of PHIs to standard error: 1 counts them, 2 names each input and result that is copied.
        "cssa-verbosity" => cssa_verbosity: u32 = 0, range 0..=2, unit "level";
        /// Prints the function before its PHIs are touched.
        "dump-before-cssa" => dump_before_cssa: bool = false;
    }
    Some(SIMD_VIDEO) => {
        /// Computes SIMD video instructions (`vsub4`, `vset4` and their like, which clang's SIMD intrinsics are made of) on
        /// whole words. ptxas takes up to 51 instructions for one, and 11 at most for what they become.
        "simd-video" => simd_video: bool = true, audience Users;
    }
    Some(SHARED_ADDRESSES) => {
        /// Lets accesses to shared memory whose addresses differ by a number read one register, with the number in the offset,
        /// as NVIDIA's compiler does. LLVM holds a register for each.
        "shared-addresses" => shared_addresses: bool = true, audience Users;
    }
    Some(REMAT) => {
        /// Computes constants, addresses, parameters and simple arithmetic again before their uses, instead of keeping
        /// them over points of high pressure, of 32 live words or more. What it is computed from is live there anyway, or
        /// takes fewer words. A value is computed again at most 16 times, and a function gets at most one such instruction
        /// for 16 of its own. Also makes comparisons again in each block that reads their predicate, where more than thirteen
        /// predicates are live: one for four instructions at most. By default, functions of fewer than 100 instructions
        /// stay. Few of the kernels measured spill less with `peaks` and `high`; `nvptx-ra tune` tries them.
        "remat" => remat: Remat = Remat::Widened, audience Users;
        /// Keeps predicates that are read in other blocks as bits of general registers, where more than thirteen of them are
        /// live. What can be compared again is compared again. With `remat=off` there are none.
        "bit-spill" => bit_spill: BitSpill = BitSpill::Auto, audience Users;
    }
    Some(SCHEDULE) => {
        /// The order of the instructions in each block. The best order differs from kernel to kernel; `nvptx-ra tune`
        /// finds it.
        "order" => order: Order = Order::Source, audience Users;
        /// Seeds random changes of the order; 0 makes none. An even number moves single instructions, an odd number
        /// gives half of the blocks another order.
        "order-seed" => order_seed: u32 = 0, range 0..=UNLIMITED, unit "as a seed";
        /// Lets an order move inline assembly that only loads, as Triton writes for masked loads, like other loads,
        /// even if it is volatile. Assembly with a memory clobber stays in its place.
        "assembly-loads" => assembly_loads: bool = false;
    }
    Some(REGALLOC) => {
        /// Keeps values in shared memory where more words are live than this many registers hold. Only kernels that say
        /// how large their blocks are get slots. Off by default; `nvptx-ra tune` tries it on kernels that spill.
        "regalloc" => regalloc: RegisterTarget = RegisterTarget::Off, audience Users;
        /// Which values are kept.
        "allocator" => allocator: Chooser = Chooser::Price;
        /// The constants that the allocator works with. The number of registers is the kernel's own with each of them.
        "preset" => preset: PresetName = PresetName::Hw;
        /// Changes constants and knobs of the preset.
        "allocator-set" => allocator_set: AllocatorSettings = AllocatorSettings::NONE;
        /// Where these values go. Each goes to the cheapest of these places that is possible for it.
        "spill-to" => spill_to: SpillTo = SpillTo::SHARED, audience Users;
        /// How many of the registers ptxas needs for itself: for addresses, loads that it issues early, and constants.
        "regalloc-slack" => regalloc_slack: Slack = Slack::Auto;
        /// Whether values may be stored and loaded in loops.
        "regalloc-loops" => regalloc_loops: KeepInLoops = KeepInLoops::Auto;
        /// Whether values with several definitions are kept, as what a loop carries or the arms of a branch both set.
        "regalloc-redefined" => regalloc_redefined: Redefined = Redefined::Auto;
        /// Tries at most this many choices of values, until one makes what is live fit. Each has more means than the one
        /// before: what the allocator or the price list chooses, values with several definitions, stores and loads around
        /// loops, then everywhere. The best is kept. None does what an option forbids.
        "regalloc-trials" => regalloc_trials: u32 = 1, range 1..=6, unit "trials";
        /// Moves the values of these registers and no others, however few words are live. The names are those of the PTX. A
        /// number says how many words ptxas's own spills of the register move, each as often as it runs: a value
        /// stays that would cost more than twice as much. `@1.2x10` says that ptxas has one load for the first and the second
        /// instruction that read the register, and that it runs ten times: the value comes back there, and where nothing
        /// is said it stays in its register. `nvptx-ra tune` finds all of this in the machine code.
        "regalloc-registers" => regalloc_registers: RegisterNames = RegisterNames::NONE;
        /// The most values of a function that are kept, the cheapest first.
        "regalloc-values" => regalloc_values: u32 = UNLIMITED, range 0..=UNLIMITED, unit "values";
        /// Lets one load of a value serve several groups of reads, where its register has room on the way and the load runs
        /// no more often than those that it replaces; and takes away loads whose value a register has on all paths.
        "regalloc-hoist" => regalloc_hoist: bool = true;
        /// Lets a value be stored once, further down than its definitions, where that is rarer: behind the loop that computes
        /// it, or ahead of a loop that does not touch it.
        "regalloc-sink" => regalloc_sink: bool = true;
        /// The most bytes of one store or load. With 8 or 16, values that are stored or loaded near each other move at once.
        /// Their registers must then lie beside each other, too, so kernels that spill may spill more.
        "regalloc-wide" => regalloc_wide: u32 = 4, range 4..=16, unit "bytes";
        /// Threads of a block, for kernels that do not say how many there are. A kernel that keeps values says so from then
        /// on, so that a launch of larger blocks fails.
        "threads" => threads: Threads = Threads::Unknown, audience Users;
        /// Bytes of dynamic shared memory that the launch adds, for kernels that have some.
        "dynamic-shared" => dynamic_shared: DynamicShared = DynamicShared::Unknown, audience Users;
        /// The most shared memory that the values of a block may take.
        "shared-limit" => shared_limit: u32 = 49152, range 0..=49152, unit "bytes", audience Users;
    }
    Some(LOOP_SHAPE) => {
        /// Ends loops in one jump back instead of two jumps, under the complement of the comparison. ptxas unrolls the one form
        /// and not the other: more loads are in flight, and the code is longer. Kernels that bound their registers, loops with
        /// barriers or asynchronous copies, and loops that ptxas would unroll wrongly for some numbers stay.
        "loop-shape" => loop_shape: LoopShape = LoopShape::On, audience Users;
    }
    Some(RENAME) => {
        /// Lets registers that live within one block share names, except operands of matrix instructions and inline
        /// assembly. The PTX is smaller and declares fewer registers. The machine code of 99 kernels in 100 keeps its
        /// figures; of the others some gain and some lose. Off on the command line takes the pass out of the pipeline.
        "rename" => rename: bool = true, audience Users;
        /// Lets all registers share names, so that the PTX has the fewest names. ptxas then takes some other decisions;
        /// some kernels gain and some lose.
        "rename-all" => rename_all: bool = false;
    }
    Some(FORECAST) => {
        /// Prints the forecast of each kernel to standard error, and adds it to the statistics. The remarks of
        /// -Rpass-analysis=nvptx-forecast say the same without this option. Those of -Rpass-missed=nvptx-lint say what
        /// costs registers and how to mend it.
        "forecast" => forecast: bool = false, scope Process, audience Users;
        /// Sets a limit on registers (`.maxnreg`) for each kernel that has none and whose callees are all in the
        /// module. All machine functions then stay in memory to the end of the module.
        "budget" => budget: RegisterBudget = RegisterBudget::Off, scope Process, audience Users;
    }
    Some(APPLY_EDITS) => {
        /// The file of the edits to apply, in the text form of docs/mfv.md, to test how edits are applied.
        "edits" => edits: Option<PathBuf> = None, scope Trusted;
    }
}
