//! The table of all options, the only place with their names.
//!
//! A row has the option's name, its field in [`Config`], type, default, range, unit, scope, audience and help (the
//! documentation of the field). The `cl::opt` registration, the pass parameters, `nvptx-ra explain`, docs/options.md
//! and docs/options-for-developers.md are generated from the rows.

use std::borrow::Cow;
use std::path::PathBuf;

use super::allocator_settings::AllocatorSettings;
use super::optimisations::{AddPasses, Inline, SkipPasses, Unroll};
use super::register_names::RegisterNames;
use super::value::{Choice, Shape, Value, choices, flags};
use super::word_or_number::{DynamicShared, KernelRegisterLimit, RegisterTarget, Slack, Threads};

choices! {
    /// Position of the coalescer in the code generator's pipeline.
    pub enum CoalescerPosition {
        /// Before LLVM's register coalescer, which handles the remaining copies.
        "before" => Before,
        /// After LLVM's register coalescer, as in NVIDIA's cicc.
        "after" => After,
        /// Instead of LLVM's register coalescer, for measurements.
        "instead" => Instead,
        /// Not in the pipeline.
        "off" => Off,
    }
}

choices! {
    /// The copies that the coalescer tries first.
    pub enum Priority {
        /// By register number, then by weight: NVIDIA's order.
        "register" => Register,
        /// By frequency: copies that execute most often come first.
        "frequency" => Frequency,
    }
}

choices! {
    /// Engine that chooses the spilled values.
    pub enum Chooser {
        /// The cost model: the values whose stores and reloads move the fewest words for each high-pressure point that
        /// gains a register.
        "price" => Price,
        /// The greedy allocator: the values that it spills, the cheapest first.
        "greedy" => Greedy,
        /// The Chaitin-Briggs allocator: the values that it spills, the cheapest first.
        "briggs" => Briggs,
        /// The fat-point allocator: the values that it spills, the cheapest first.
        "fatpoint" => Fatpoint,
    }
}

choices! {
    /// The constants of `greedy`, `briggs` and `fatpoint`.
    pub enum PresetName {
        /// The documented limits of the hardware. The cost of a spill is the words that it moves.
        "hw" => Hw,
        /// The constants of NVIDIA's cicc, as read from its code: 8 predicates, two 16-bit values in a register, and K
        /// = 15 in degree tests. The cost of a spill is definitions times uses times latency.
        "cicc" => Cicc,
        /// The constants of NVIDIA's ptxas, as read from its code: as `hw`, but no live range is split.
        "ptxas" => Ptxas,
    }
}

choices! {
    /// Whether spilled values may be stored and reloaded in loops.
    pub enum KeepInLoops {
        /// In no loop in the first spill plan. A later plan of `regalloc-trials` may do so.
        "auto" => Auto,
        /// In no loop.
        "off" => Off,
        /// Only where a store or reload executes at most a quarter as often as the instructions that gain a register.
        "around" => Around,
        /// Everywhere. This makes most kernels worse.
        "on" => On,
    }
}

choices! {
    /// Whether values with several definitions are spilled.
    pub enum Redefined {
        /// Not in the first spill plan. A later plan of `regalloc-trials` may do so.
        "auto" => Auto,
        /// No.
        "off" => Off,
        /// Yes. They are stored after each definition.
        "on" => On,
    }
}

choices! {
    /// The loops that get the form that ptxas unrolls.
    pub enum LoopShape {
        /// Loops that are likely to gain.
        "on" => On,
        /// Also loops whose unrolled bodies may need more registers than a thread has. This value is for a search,
        /// which measures the result.
        "all" => All,
        /// No loops.
        "off" => Off,
    }
}

choices! {
    /// How PHIs are prepared for PHI elimination.
    pub enum CssaInterference {
        /// Not at all: LLVM's PHI elimination copies every input and every result.
        "0" => Stock,
        /// Registers share a name if they are never live at the same time (Sreedhar et al. 1999).
        "1" => Liveness,
        /// Registers share a name if they never hold different values at the same time (Boissinot et al. 2009).
        "2" => Values,
    }
}

choices! {
    /// The order of a block's instructions.
    pub enum Order {
        /// LLVM's order.
        "source" => Source,
        /// The operand whose computation takes the most registers comes first.
        "sethi-ullman" => SethiUllman,
        /// From the end of the block: the instruction that leaves the fewest registers live, with a look-ahead.
        "bottom-up" => BottomUp,
        /// From the start of the block: the longest path first, with at most as many registers live as in the order of
        /// the code.
        "latency" => Latency,
        /// Each movable instruction is directly before its first use.
        "late" => Late,
        /// Instructions that end live ranges come early unless this raises the pressure. All others are as in `late`.
        "eager" => Eager,
        /// Each load is directly before its first use.
        "loads-late" => LoadsLate,
        /// Loads are clustered.
        "loads-clustered" => LoadsClustered,
    }
}

choices! {
    /// Where cheap values are rematerialised instead of being kept in registers.
    pub enum Remat {
        /// Nowhere.
        "off" => Off,
        /// Three kinds of values only. 64-bit values that are computed from 32-bit values alone: where at least six
        /// eighths of a thread's registers are live, in functions whose pressure exceeds a thread's registers. Sums of
        /// such 64-bit values: in loops that read the sum once or twice. Comparisons: where more than thirteen
        /// predicates are live.
        "widened" => Widened,
        /// Where the pressure is at least seven eighths of the function's maximum.
        "peaks" => Peaks,
        /// Where the pressure is at least half of the function's maximum.
        "high" => High,
    }
}

choices! {
    /// The predicates that are kept as bits of general registers.
    pub enum BitSpill {
        /// None.
        "off" => Off,
        /// Predicates that have several definitions, each on its own path, if this shortens the code. The code becomes
        /// shorter if one instruction sets the bits of several predicates to constants. ptxas cannot rematerialise
        /// these predicates. No predicate is kept as a bit if the live words exceed 7/5 of the registers, because ptxas
        /// may then trade registers for warps.
        "auto" => Auto,
        /// All predicates that are read in other blocks. A bit may cost more than a comparison that ptxas
        /// rematerialises, so `nvptx-ra tune` measures this value.
        "on" => On,
    }
}

choices! {
    /// A fault to inject, which tests the handling of faults.
    pub enum Injection {
        /// No fault.
        "none" => None,
        /// The pass returns an error.
        "error" => Error,
        /// The pass panics.
        "panic" => Panic,
        /// The pass returns an error, and writing the error to the statistics panics.
        "late-panic" => LatePanic,
        /// Some of the pass's edits are changed at random, and random edits are added, before LLVM applies them. The
        /// function's name seeds the changes.
        "wrong-edits" => WrongEdits,
    }
}

flags! {
    /// The phases whose decisions are printed to standard error.
    pub struct Trace {
        /// The class of each instruction.
        "classify" => CLASSIFY = 0,
        /// The live ranges.
        "liveness" => LIVENESS = 1,
        /// The copies that may be removed.
        "candidates" => CANDIDATES = 2,
        /// Each merge, and each refusal with its reason.
        "coalesce" => COALESCE = 3,
        /// The edits that are returned.
        "edits" => EDITS = 4,
        /// The function in the pass's view, in the text form that `nvptx-ra replay` reads.
        "view" => VIEW = 5,
        /// The number of names after renaming.
        "rename" => RENAME = 6,
        /// The number of instructions that another order moves.
        "schedule" => SCHEDULE = 7,
        /// The number of rematerialised values.
        "remat" => REMAT = 8,
        /// The spilled values, their slots, and the reasons.
        "regalloc" => REGALLOC = 9,
        /// The number of accesses to shared memory that read another address register after the pass.
        "shared-addresses" => SHARED_ADDRESSES = 10,
        /// The number of inline assembly texts that lose their SIMD video instructions.
        "simd-video" => SIMD_VIDEO = 11,
        /// The number of loops that get the form that ptxas unrolls.
        "loop-shape" => LOOP_SHAPE = 12,
    }
}

flags! {
    /// Places of values that have no register.
    pub struct SpillTo {
        /// Shared memory, in slots of each thread. Only kernels that declare their block size get slots.
        "shared" => SHARED = 0,
        /// Local memory, at addresses that are opaque to ptxas, so that ptxas does not undo the spill.
        "local" => LOCAL = 1,
        /// No memory: a value that is cheap to compute from live values is rematerialised before its uses.
        "remat" => REMAT = 2,
    }
}

flags! {
    /// Subjects of a compilation's warnings.
    pub struct Warn {
        /// Limits that cannot be kept: registers for the operands of an instruction, shared memory for slots, and 64 KB
        /// of local memory for a frame with slots.
        "limits" => LIMITS = 0,
        /// Kernels that ptxas is expected to spill. The warning is marked as a forecast.
        "spills" => SPILLS = 1,
    }
}

/// Where an option may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// As a pass parameter, on the command line, and in the function attribute.
    Function,
    /// As a pass parameter and on the command line. Not in the function attribute, because a module must not name files
    /// that the compiler writes.
    Trusted,
    /// On the command line only: the option is read before there is a function.
    Process,
}

/// Audience of an option. The compiler's help and docs/options.md list the options for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Users who compile kernels on a command line.
    Users,
    /// Profiles, the search, and developers and testers of the passes: the default of a row.
    Developers,
}

/// A row of the table.
#[derive(Debug)]
pub struct OptionSpec {
    /// Name of the pass parameter. The command-line option has the prefix `-nvptx-ra-`.
    pub name: &'static str,
    /// Pass that reads the option; `None` if every pass reads it.
    pub pass: Option<&'static str>,
    /// Help text.
    pub help: &'static str,
    /// Shape of a value.
    pub shape: Shape,
    /// Unit of a number; empty for other values.
    pub unit: &'static str,
    /// Where the option may be given.
    pub scope: Scope,
    /// Audience.
    pub audience: Audience,
    set: fn(&mut Config, &str, &Shape) -> bool,
    get: fn(&Config) -> Cow<'static, str>,
}

impl OptionSpec {
    /// Returns the text of the option's value in `config`; empty for a path that is not given.
    pub fn value(&self, config: &Config) -> Cow<'static, str> {
        (self.get)(config)
    }

    /// Sets the option to a value; false if the text is not a value of it.
    pub(super) fn set(&self, config: &mut Config, value: &str) -> bool {
        (self.set)(config, value, &self.shape)
    }
}

/// Expands to a part of a row, or to its default if the row omits it.
macro_rules! part {
    ($default:expr) => {
        $default
    };
    ($default:expr, $given:expr) => {
        $given
    };
}

/// Generates [`Config`], its defaults and [`OPTIONS`] from the rows.
macro_rules! options {
    ($($pass:expr => {$(
        $(#[doc = $help:literal])+
        $name:literal => $field:ident: $type:ty = $default:expr
            $(, range $range:expr)? $(, unit $unit:literal)? $(, scope $scope:ident)? $(, audience $audience:ident)?;
    )+})+) => {
        /// Settings of the passes: one field per option. Made by [`Config::resolve`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            /// Whether the passes may change the function: false if its attribute `"nvptx-ra"` is `off`.
            pub enabled: bool,
            $($($(#[doc = $help])+ pub $field: $type,)+)+
        }

        impl Config {
            /// The options' defaults.
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

/// The name of the pass that replaces SIMD video instructions.
pub const SIMD_VIDEO: &str = "nvptx-simd-video";

/// The name of the pass that lets shared-memory addresses with a constant difference use one register.
pub const SHARED_ADDRESSES: &str = "nvptx-shared-addresses";

/// The name of the pass that rematerialises values.
pub const REMAT: &str = "nvptx-remat";

/// The name of the pass that spills values.
pub const REGALLOC: &str = "nvptx-regalloc";
/// The name of the pass that orders the instructions of blocks.
pub const SCHEDULE: &str = "nvptx-schedule";

/// The name of the pass that gives loops the form that ptxas unrolls.
pub const LOOP_SHAPE: &str = "nvptx-loop-shape";

/// The name of the pass that gives registers as few names as they need.
pub const RENAME: &str = "nvptx-rename";

/// The name of the pass that forecasts registers and spills.
pub const FORECAST: &str = "nvptx-forecast";

/// The name of the pass that prints the forecast.
pub const PRINT_FORECAST: &str = "print<nvptx-forecast>";

/// The name of the pass that applies edits given as text.
pub const APPLY_EDITS: &str = "nvptx-apply-edits";

const UNLIMITED: u32 = u32::MAX;

options! {
    None => {
        /// Also changes functions marked optnone, which are left alone otherwise.
        "optnone" => optnone: bool = false;
        /// Makes every error fatal. Without this option, an error is printed as a warning, and the function stays as
        /// LLVM made it.
        "strict" => strict: bool = false, audience Users;
        /// The subjects of warnings. With `strict`, a limit that cannot be kept is an error, and the function stays as
        /// LLVM made it.
        "warn" => warn: Warn = Warn::LIMITS, audience Users;
        /// Checks every change. The symbolic checker proves that the function computes the same results, and LLVM's
        /// machine verifier runs before and after the change. If a function fails LLVM's verifier before any change,
        /// one line gives its name. The checks take about as long as the passes.
        "verify" => verify: bool = false, audience Users;
        /// LLVM's optimisations that are skipped for the function, under the names that -opt-disable accepts. Some
        /// optimisations cost registers, but not in every kernel; `nvptx-ra tune` tries to skip them.
        "skip-passes" => skip_passes: SkipPasses = SkipPasses::empty(), audience Users;
        /// Additional optimisations of LLVM that run on the function's IR before the code generator, in the order of
        /// this list. They have no effect at -O0. Their effect on registers differs between kernels; `nvptx-ra tune`
        /// tries them.
        "add-passes" => add_passes: AddPasses = AddPasses::empty(), audience Users;
        /// The calls that LLVM inlines in a kernel and in its callees. Arrays whose address is passed to a function
        /// stay in local memory unless the call is inlined. The option takes effect before LLVM's optimisations, so
        /// only in clang and `opt`. A kernel's value holds for all its callees. Functions marked noinline are never
        /// inlined.
        "inline" => inline: Inline = Inline::Llvm, audience Users;
        /// The loops that LLVM unrolls in a kernel and in its callees. Like `inline`, the option takes effect before
        /// LLVM's optimisations.
        "unroll" => unroll: Unroll = Unroll::Llvm, audience Users;
        /// Appends statistics to this file, one line of JSON per event. Several compilers may share the file; `nvptx-ra
        /// stats FILE` sums it up.
        "stats" => stats: Option<PathBuf> = None, scope Trusted;
        /// Prints the decisions of these phases to standard error.
        "trace" => trace: Trace = Trace::empty();
        /// Folder for the bundle of an internal error (the function, the options, the versions). If it is not given,
        /// the bundle goes to the system's folder for temporary files.
        "bundle" => bundle: Option<PathBuf> = None, scope Trusted;
        /// Replays the winners that `nvptx-ra tune` wrote to this file. If the code of a function has changed since,
        /// the function gets the defaults, and a warning names it.
        "profile" => profile: Option<PathBuf> = None, scope Process, audience Users;
        /// Injects a fault into each pass, to test that the function then stays unchanged.
        "inject" => inject: Injection = Injection::None;
    }
    Some(COPY_COALESCER) => {
        /// Position of the coalescer in the pipeline. The option is read when the pipeline is built.
        "position" => position: CoalescerPosition = CoalescerPosition::After, scope Process, audience Users;
        /// Coalesces copies. Off leaves all copies.
        "join-liveintervals" => join_liveintervals: bool = true;
        /// Coalesces copies in blocks that only split an edge.
        "join-splitedges" => join_splitedges: bool = true;
        /// Coalesces copies whose registers are live in several blocks. Off leaves such copies, and still coalesces
        /// copies within one block.
        "join-globalcopies" => join_globalcopies: bool = true;
        /// Among copies of the same priority, tries a copy last if one of its registers is in no other copy and its
        /// other register is copied again in the same block. If this copy were merged first, it could prevent the other
        /// merge.
        "terminal-rule" => terminal_rule: bool = true;
        /// Rematerialises a constant if that removes a copy or shortens a live range.
        "remat-constants" => remat_constants: bool = true;
        /// Follows the halves of wide registers through pack and unpack, so that round trips between them vanish.
        "wide-pairs" => wide_pairs: bool = true;
        /// The copies that are tried first.
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
        /// Adds the pass to the pipeline. Off by default: on the measured kernels, the coalescer leaves as few copies
        /// without this pass.
        "cssa" => cssa: bool = false, scope Process;
        /// How PHIs are prepared for PHI elimination.
        "cssa-interference" => cssa_interference: CssaInterference = CssaInterference::Values;
        /// Lets the registers that a PHI connects share a name. Off copies every input and every result.
        "cssa-coalesce" => cssa_coalesce: bool = true;
        /// Prints the decisions about PHIs to standard error: 1 counts them, 2 names each input and result that is
        /// copied.
        "cssa-verbosity" => cssa_verbosity: u32 = 0, range 0..=2, unit "level";
        /// Prints the function before its PHIs change.
        "dump-before-cssa" => dump_before_cssa: bool = false;
    }
    Some(SIMD_VIDEO) => {
        /// Computes SIMD video instructions (`vsub4`, `vset4` and similar ones, which clang's SIMD intrinsics emit) on
        /// whole words. ptxas emits up to 51 machine instructions for a SIMD video instruction, and at most 11 for its
        /// replacement.
        "simd-video" => simd_video: bool = true, audience Users;
    }
    Some(SHARED_ADDRESSES) => {
        /// Lets accesses to shared memory whose addresses differ by a constant share one register, with the constant in
        /// the offset, as in NVIDIA's compiler. LLVM keeps a register for each address.
        "shared-addresses" => shared_addresses: bool = true, audience Users;
    }
    Some(REMAT) => {
        /// Rematerialises constants, addresses, parameters and simple arithmetic before their uses, instead of keeping
        /// them in registers at points with at least 32 live words. The operands are live at the uses anyway, or take
        /// fewer words than the value. A value is rematerialised at most 16 times. A function gets at most one
        /// rematerialised instruction for each 16 of its own. If more than thirteen predicates are live, comparisons
        /// are also rematerialised, in each block that reads their predicate: at most one for each four instructions.
        /// By default, functions of fewer than 100 instructions stay unchanged. Few of the measured kernels spill less
        /// with `peaks` and `high`; `nvptx-ra tune` tries both values.
        "remat" => remat: Remat = Remat::Widened, audience Users;
        /// Keeps predicates that are read in other blocks as bits of general registers, where more than thirteen
        /// predicates are live. Comparisons that can be rematerialised are rematerialised instead. With `remat=off`, no
        /// predicate is kept as a bit.
        "bit-spill" => bit_spill: BitSpill = BitSpill::Auto, audience Users;
    }
    Some(SCHEDULE) => {
        /// The order of the instructions in each block. The best order differs between kernels; `nvptx-ra tune` finds
        /// it.
        "order" => order: Order = Order::Source, audience Users;
        /// Seeds random changes of the order; 0 makes none. An even number moves single instructions, an odd number
        /// gives half of the blocks another order.
        "order-seed" => order_seed: u32 = 0, range 0..=UNLIMITED, unit "as a seed";
        /// Lets an order move inline assembly that only loads like other loads, even if the assembly is volatile.
        /// Triton emits such assembly for masked loads. Assembly with a memory clobber does not move.
        "assembly-loads" => assembly_loads: bool = false;
    }
    Some(REGALLOC) => {
        /// Spills values to shared memory at points where more words are live than this number of registers. Only
        /// kernels that declare their block size get slots. Off by default; `nvptx-ra tune` tries it on kernels that
        /// spill.
        "regalloc" => regalloc: RegisterTarget = RegisterTarget::Off, audience Users;
        /// The engine that chooses the spilled values.
        "allocator" => allocator: Chooser = Chooser::Price;
        /// The constants of the allocator. With all presets, the register limit is the kernel's own.
        "preset" => preset: PresetName = PresetName::Hw;
        /// Changes constants and knobs of the preset.
        "allocator-set" => allocator_set: AllocatorSettings = AllocatorSettings::NONE;
        /// Places of the spilled values. Each value gets the cheapest of these places that is possible for it.
        "spill-to" => spill_to: SpillTo = SpillTo::SHARED, audience Users;
        /// Registers that are left to ptxas, for addresses, loads that it issues early, and constants.
        "regalloc-slack" => regalloc_slack: Slack = Slack::Auto;
        /// Whether values may be stored and reloaded in loops.
        "regalloc-loops" => regalloc_loops: KeepInLoops = KeepInLoops::Auto;
        /// Whether values with several definitions are spilled, such as loop-carried values and values that both arms
        /// of a branch set.
        "regalloc-redefined" => regalloc_redefined: Redefined = Redefined::Auto;
        /// Tries at most this many spill plans and takes the best. The trials end when the live words fit. The first
        /// plan has only the values that the engine chooses under the options' values. Each later plan may do more than
        /// the plan before: spill values with several definitions, then store and reload around loops, then store and
        /// reload everywhere. No plan does anything that an option forbids.
        "regalloc-trials" => regalloc_trials: u32 = 1, range 1..=6, unit "trials";
        /// Spills values of these registers only, even if few words are live. The names are register names in the PTX.
        /// A number after a name gives the words that ptxas's own spills of the register move, each counted as often as
        /// it executes. A value is not spilled if its spill would move more than twice this number of words. `@1.2x10`
        /// stands for a reload of ptxas that executes ten times and serves the first and the second instruction that
        /// read the register. The value is reloaded for these instructions, and stays in its register for all other
        /// reads. `nvptx-ra tune` finds all of this in the machine code.
        "regalloc-registers" => regalloc_registers: RegisterNames = RegisterNames::NONE;
        /// Spills at most this many values of a function, the cheapest first.
        "regalloc-values" => regalloc_values: u32 = UNLIMITED, range 0..=UNLIMITED, unit "values";
        /// Lets one reload of a value serve several groups of reads, if a register is free between the groups and the
        /// reload executes no more often than the reloads that it replaces. Also removes reloads whose value is in a
        /// register on all paths.
        "regalloc-hoist" => regalloc_hoist: bool = true;
        /// Lets a value be stored once after its definitions, at a place that executes more rarely: after the loop that
        /// computes it, or before a loop that does not use it.
        "regalloc-sink" => regalloc_sink: bool = true;
        /// The most bytes of one store or load. With 8 or 16, values that are stored or loaded near each other are accessed
        /// together. Their registers must then be adjacent, too, so kernels that spill may spill more.
        "regalloc-wide" => regalloc_wide: u32 = 4, range 4..=16, unit "bytes";
        /// Threads of a block, for kernels that do not declare them. A kernel with spilled values then declares this
        /// block size, so a launch of larger blocks fails.
        "threads" => threads: Threads = Threads::Unknown, audience Users;
        /// Bytes of dynamic shared memory that the launch adds, for kernels that use dynamic shared memory.
        "dynamic-shared" => dynamic_shared: DynamicShared = DynamicShared::Unknown, audience Users;
        /// The most shared memory for the slots of a block.
        "shared-limit" => shared_limit: u32 = 49152, range 0..=49152, unit "bytes", audience Users;
    }
    Some(LOOP_SHAPE) => {
        /// Ends a loop with one backward branch under the complement of the comparison, instead of two branches. ptxas
        /// unrolls only this form: more loads are in flight, and the code is longer. Some kernels and loops stay
        /// unchanged: kernels that bound their registers, loops with barriers or asynchronous copies, and loops that
        /// ptxas would unroll wrongly for some trip counts.
        "loop-shape" => loop_shape: LoopShape = LoopShape::On, audience Users;
    }
    Some(RENAME) => {
        /// Lets registers that are live within one block share names, except operands of matrix instructions and inline
        /// assembly. The PTX is smaller and declares fewer registers. The machine code of 99 kernels in 100 keeps its
        /// figures; of the others, some gain and some lose. On the command line, off removes the pass from the
        /// pipeline.
        "rename" => rename: bool = true, audience Users;
        /// Lets all registers share names, so that the PTX has the fewest names. ptxas then makes some other decisions;
        /// some kernels gain and some lose.
        "rename-all" => rename_all: bool = false;
    }
    Some(FORECAST) => {
        /// Prints the forecast of each kernel to standard error, and adds it to the statistics. The remarks of
        /// -Rpass-analysis=nvptx-forecast contain the same without this option. The remarks of -Rpass-missed=nvptx-lint
        /// name code that costs registers, and a remedy.
        "forecast" => forecast: bool = false, scope Process, audience Users;
        /// Sets a register limit (`.maxnreg`) for each kernel that has no limit and whose callees are all in the
        /// module. All machine functions then stay in memory to the end of the module.
        "register-limit" => register_limit: KernelRegisterLimit = KernelRegisterLimit::Off, scope Process, audience Users;
    }
    Some(APPLY_EDITS) => {
        /// File with edits to apply, in the text form of docs/mfv.md. Tests use the option to check how edits are
        /// applied.
        "edits" => edits: Option<PathBuf> = None, scope Trusted;
    }
}
