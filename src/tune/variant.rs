//! Variants of a kernel, and their neighbours.

use crate::config::{Config, RegisterNames, find, unless_default};
use crate::profile::{Entry, OFF};

use super::axis::Axis;
use super::optimisations::Optimisations;
use super::spill_options::SpillOptions;

/// How registers are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// By the passes' default.
    Some,
    /// With as few names as possible.
    Fewest,
    /// With LLVM's names.
    Llvm,
}

/// A variant: a way to compile a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// LLVM's code, without the passes.
    Stock,
    /// Another compiler's code, by its number from 1 on, without the passes.
    Linked(u8),
    /// With the passes.
    Passes(Passes),
}

/// The choices of a variant with the passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passes {
    /// The compiler: 0 for this build's LLVM, or the number of another compiler.
    compiler: u8,
    optimisations: Optimisations,
    /// The order of instructions, by the name of the option.
    order: &'static str,
    /// The seed of random changes to the order. 0 for no changes.
    seed: u32,
    /// Whether loads in inline assembly may be reordered, too.
    assembly_loads: bool,
    /// Whether loops are turned: they end in the form that ptxas unrolls.
    turns_loops: bool,
    /// Whether copies are coalesced.
    coalesces: bool,
    names: Names,
    /// Whether SIMD video instructions are expanded into others.
    expands_simd_video: bool,
    /// Whether shared addresses that differ by a constant share one register.
    shares_addresses: bool,
    /// Where values are rematerialised, by the name of the option.
    remat: &'static str,
    /// Where predicates are packed as bits, by the name of the option.
    bits: &'static str,
    /// `.maxnreg`. `None` keeps the kernel's own.
    max_registers: Option<u32>,
    /// Whether ptxas may spill to shared memory.
    smem_spilling: bool,
    /// Whether `.minnctapersm 1` states how many registers the kernel starts with, so that ptxas obeys `setmaxnreg`.
    says_blocks: bool,
    /// Whether ptxas compiles the kernel under another name.
    has_other_name: bool,
    /// The values that are spilled to shared memory, if any.
    kept: Option<SpillOptions>,
}

/// The option table, the only source of the defaults.
const TABLE: &Config = &Config::DEFAULT;

impl Passes {
    const DEFAULT: Self = Self {
        compiler: 0,
        optimisations: Optimisations::DEFAULT,
        order: TABLE.order.word(),
        seed: TABLE.order_seed,
        assembly_loads: TABLE.assembly_loads,
        turns_loops: false,
        coalesces: TABLE.join_liveintervals,
        names: Names::Some,
        expands_simd_video: TABLE.simd_video,
        shares_addresses: TABLE.shared_addresses,
        remat: TABLE.remat.word(),
        bits: TABLE.bit_spill.word(),
        max_registers: None,
        smem_spilling: false,
        says_blocks: false,
        has_other_name: false,
        kept: None,
    };
}

impl Variant {
    /// The passes with their defaults.
    pub const DEFAULT: Self = Self::Passes(Passes::DEFAULT);

    /// Returns the defaults with another order.
    pub const fn ordered(order: &'static str, seed: u32) -> Self {
        Self::Passes(Passes { order, seed, ..Passes::DEFAULT })
    }

    /// Returns all orders, the most helpful first.
    pub fn orders() -> impl Iterator<Item = &'static str> {
        let first = ["source", "eager", "late", "latency", "bottom-up", "loads-late"];
        let known = find("order").map_or(&[][..], |spec| spec.shape.choices()).iter().map(|choice| choice.name);
        first.into_iter().chain(known.filter(move |name| !first.contains(name)))
    }

    /// Returns the choices for the passes. Stock has the defaults, so its neighbours use the passes, too.
    fn passes(&self) -> Passes {
        match self {
            Self::Stock => Passes::DEFAULT,
            Self::Linked(compiler) => Passes { compiler: *compiler, ..Passes::DEFAULT },
            Self::Passes(passes) => passes.clone(),
        }
    }

    /// Returns the compiler: 0 for this build's LLVM, or the number of another compiler.
    pub fn compiler(&self) -> u8 {
        match self {
            Self::Stock => 0,
            Self::Linked(compiler) => *compiler,
            Self::Passes(passes) => passes.compiler,
        }
    }

    /// Replaces the compiler.
    #[must_use]
    pub fn on_code_of(&self, compiler: u8) -> Self {
        match self {
            Self::Stock | Self::Linked(_) if compiler == 0 => Self::Stock,
            Self::Stock | Self::Linked(_) => Self::Linked(compiler),
            Self::Passes(passes) => Self::Passes(Passes { compiler, ..passes.clone() }),
        }
    }

    /// Replaces LLVM's optimisations.
    pub fn optimised(&self, optimisations: Optimisations) -> Self {
        Self::Passes(Passes { optimisations, ..self.passes() })
    }

    /// Returns LLVM's optimisations.
    pub fn optimisations(&self) -> Optimisations {
        if let Self::Passes(passes) = self { passes.optimisations } else { Passes::DEFAULT.optimisations }
    }

    /// Whether LLVM's optimisations differ from stock's.
    pub fn changes_optimisations(&self) -> bool {
        self.optimisations() != Optimisations::STOCK
    }

    /// Replaces the order.
    pub fn with_order(&self, order: &'static str, seed: u32) -> Self {
        Self::Passes(Passes { order, seed, ..self.passes() })
    }

    /// Toggles the reordering of loads in inline assembly.
    pub fn toggled_assembly_loads(&self) -> Self {
        let passes = self.passes();
        Self::Passes(Passes { assembly_loads: !passes.assembly_loads, ..passes })
    }

    /// Puts loops into the form that ptxas unrolls.
    pub fn with_turned_loops(&self) -> Self {
        Self::Passes(Passes { turns_loops: true, ..self.passes() })
    }

    /// Keeps loops in their original form. `None` if no loops are turned.
    pub fn with_loops_as_they_come(&self) -> Option<Self> {
        let passes = self.passes();
        passes.turns_loops.then_some(Self::Passes(Passes { turns_loops: false, ..passes }))
    }

    /// Sets a register limit.
    pub fn with_limit(&self, limit: u32) -> Self {
        Self::Passes(Passes { max_registers: Some(limit), ..self.passes() })
    }

    /// Adds `.minnctapersm 1`.
    pub fn with_blocks_said(&self) -> Self {
        Self::Passes(Passes { says_blocks: true, ..self.passes() })
    }

    /// Toggles another name of the kernel.
    pub fn toggled_name(&self) -> Self {
        let passes = self.passes();
        Self::Passes(Passes { has_other_name: !passes.has_other_name, ..passes })
    }

    /// Restores the kernel's own name. `None` if the kernel has no other name.
    pub fn with_own_name(&self) -> Option<Self> {
        self.moves_along(Axis::KernelName).then(|| self.toggled_name())
    }

    /// Replaces register names and coalescing.
    pub fn with_registers(&self, names: Names, coalesces: bool) -> Self {
        Self::Passes(Passes { names, coalesces, ..self.passes() })
    }

    /// Lets ptxas spill to shared memory.
    pub fn with_smem_spilling(&self) -> Self {
        Self::Passes(Passes { smem_spilling: true, kept: None, ..self.passes() })
    }

    /// Sets the values that are spilled to shared memory.
    pub fn with_kept_values(&self, kept: SpillOptions) -> Self {
        Self::Passes(Passes { smem_spilling: false, kept: Some(kept), ..self.passes() })
    }

    /// Removes the values that are spilled to shared memory.
    pub fn without_kept_values(&self) -> Self {
        Self::Passes(Passes { kept: None, ..self.passes() })
    }

    /// Whether copies are coalesced.
    pub fn coalesces(&self) -> bool {
        self.passes().coalesces
    }

    /// Returns the options of the pass that spills to shared memory.
    pub fn kept(&self) -> Option<SpillOptions> {
        self.passes().kept
    }

    /// Returns the registers that the spill options name. All of their values are spilled, and no others.
    pub fn named(&self) -> RegisterNames {
        self.kept().map(|kept| kept.named).unwrap_or_default()
    }

    /// Returns the variant for a function that the kernel calls. Bounds apply to the kernel only.
    pub fn of_callee(&self) -> Self {
        match self {
            // Functions that are called by another compiler's kernel stay unchanged.
            _ if self.compiler() != 0 => Self::Stock,
            Self::Stock | Self::Linked(_) => Self::Stock,
            Self::Passes(passes) => {
                // Choices before LLVM's optimisations belong to the kernel, too, and apply to all functions that it
                // calls.
                let optimisations = passes.optimisations.with_ahead(Passes::DEFAULT.optimisations.ahead());
                Self::Passes(Passes {
                    optimisations,
                    max_registers: None,
                    smem_spilling: false,
                    says_blocks: false,
                    has_other_name: false,
                    kept: None,
                    ..passes.clone()
                })
            }
        }
    }

    /// Returns the places where values may be rematerialised.
    pub fn remats() -> impl Iterator<Item = &'static str> {
        find("remat").map_or(&[][..], |spec| spec.shape.choices()).iter().map(|choice| choice.name)
    }

    /// Returns where values are rematerialised by default.
    pub const fn default_remat() -> &'static str {
        Passes::DEFAULT.remat
    }

    /// Replaces the places where values are rematerialised.
    pub fn with_remat(&self, remat: &'static str) -> Self {
        Self::Passes(Passes { remat, ..self.passes() })
    }

    /// Returns where predicates are packed as bits, by the name of the option.
    pub fn bits(&self) -> &'static str {
        self.passes().bits
    }

    /// Replaces the places where predicates are packed as bits.
    pub fn with_bits(&self, bits: &'static str) -> Self {
        Self::Passes(Passes { bits, ..self.passes() })
    }

    /// Toggles the expansion of SIMD video instructions.
    pub fn toggled_simd_video(&self) -> Self {
        let passes = self.passes();
        Self::Passes(Passes { expands_simd_video: !passes.expands_simd_video, ..passes })
    }

    /// Toggles one register for shared addresses that differ by a constant.
    pub fn toggled_shared_addresses(&self) -> Self {
        let passes = self.passes();
        Self::Passes(Passes { shares_addresses: !passes.shares_addresses, ..passes })
    }

    /// Returns the order.
    pub fn order(&self) -> &'static str {
        self.passes().order
    }

    /// Whether the order differs from the code's own.
    pub fn has_order(&self) -> bool {
        (self.passes().order, self.passes().seed) != (TABLE.order.word(), TABLE.order_seed)
    }

    /// Whether the variant differs from the default on an axis. Stock differs on none.
    pub fn moves_along(&self, axis: Axis) -> bool {
        let (passes, default) = (self.passes(), Passes::DEFAULT);
        match axis {
            Axis::Compiler => passes.compiler != default.compiler,
            Axis::Ahead => passes.optimisations.ahead() != default.optimisations.ahead(),
            Axis::Optimisations => {
                passes.optimisations.with_ahead(default.optimisations.ahead()) != default.optimisations
            }
            Axis::Order => self.has_order(),
            Axis::AssemblyLoads => passes.assembly_loads != default.assembly_loads,
            Axis::SimdVideo => passes.expands_simd_video != default.expands_simd_video,
            Axis::SharedAddresses => passes.shares_addresses != default.shares_addresses,
            Axis::Remat => passes.remat != default.remat || passes.bits != default.bits,
            Axis::Limit => passes.max_registers.is_some(),
            Axis::Loops => passes.turns_loops,
            Axis::Names => passes.names != default.names || passes.coalesces != default.coalesces,
            Axis::Kept => passes.kept.is_some(),
            Axis::SmemSpilling => passes.smem_spilling,
            Axis::Blocks => passes.says_blocks,
            Axis::KernelName => passes.has_other_name,
        }
    }

    /// Whether all choices are proved not to change the kernel's results.
    pub fn is_proved(&self) -> bool {
        Axis::ALL.into_iter().all(|axis| axis.is_proved() || !self.moves_along(axis))
    }

    /// Whether all choices keep what other files see of a relocatable object.
    pub fn is_safe_when_relocatable(&self) -> bool {
        Axis::ALL.into_iter().all(|axis| axis.is_safe_when_relocatable() || !self.moves_along(axis))
    }

    /// Returns the `.maxnreg` that it sets, if any.
    pub fn limit(&self) -> Option<u32> {
        if let Self::Passes(passes) = self { passes.max_registers } else { None }
    }

    /// Whether it sets `.maxnreg`.
    pub fn limits_registers(&self) -> bool {
        self.limit().is_some()
    }

    /// Whether values have spill slots in shared memory, from ptxas or the passes.
    pub fn spills_to_shared(&self) -> bool {
        matches!(self, Self::Passes(Passes { smem_spilling: true, .. } | Passes { kept: Some(_), .. }))
    }

    /// Returns the profile entry for the variant.
    pub fn entry(&self, name: &str, hash: &str) -> Entry {
        let Passes { max_registers: maxnreg, smem_spilling, says_blocks, has_other_name: other_name, .. } =
            self.passes();
        let (name, hash, options) = (name.to_owned(), hash.to_owned(), self.options(RegisterNames::to_string));
        Entry {
            name,
            hash,
            options,
            maxnreg,
            smem_spilling,
            minnctapersm: says_blocks.then_some(1),
            other_name,
            linked: None,
        }
    }

    /// Returns the options that differ from the defaults. `names_of` prints the registers.
    fn options(&self, names_of: impl Fn(&RegisterNames) -> String) -> String {
        let Self::Passes(passes) = self else { return OFF.into() };
        let Passes { optimisations, order, seed, kept, .. } = passes;
        let switch = |is_on: bool| if is_on { "on" } else { "off" };
        let chosen = [
            ("order", *order),
            ("order-seed", &seed.to_string()),
            ("assembly-loads", switch(passes.assembly_loads)),
            ("simd-video", switch(passes.expands_simd_video)),
            ("shared-addresses", switch(passes.shares_addresses)),
            ("remat", passes.remat),
            ("bit-spill", passes.bits),
        ];
        let (renames, renames_all) = match passes.names {
            Names::Some => (TABLE.rename, TABLE.rename_all),
            Names::Fewest => (true, true),
            Names::Llvm => (false, TABLE.rename_all),
        };
        let registers = [
            ("join-liveintervals", switch(passes.coalesces)),
            ("rename-all", switch(renames_all)),
            ("rename", switch(renames)),
        ];
        let other = |(name, value): (&str, &str)| unless_default(name, value);
        let mut options: Vec<String> = optimisations.options().chain(chosen.into_iter().filter_map(other)).collect();
        options.extend(kept.iter().flat_map(|kept| kept.options(&names_of)));
        if passes.turns_loops {
            options.push("loop-shape=all".into());
        }
        options.extend(registers.into_iter().filter_map(other));
        options.join(";")
    }
}

/// Prints the options. `{:#}` prints all register names, `{}` a shortened list.
impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whose = match self.compiler() {
            0 => None,
            1 => Some("also".to_owned()),
            other => Some(format!("also={other}")),
        };
        let Self::Passes(passes) = self else { return f.write_str(whose.as_deref().unwrap_or("stock")) };
        let limit = passes.max_registers.map(|limit| format!("maxnreg={limit}"));
        let shared = passes.smem_spilling.then(|| "smem-spilling".to_owned());
        let names = if f.alternate() { RegisterNames::to_string } else { RegisterNames::shortened };
        let blocks = passes.says_blocks.then(|| "minnctapersm=1".to_owned());
        let other_name = passes.has_other_name.then(|| "other-name".to_owned());
        let options = Some(self.options(names)).filter(|options| !options.is_empty());
        let mut choices: Vec<String> = [options, limit, shared, blocks, other_name].into_iter().flatten().collect();
        if choices.is_empty() {
            choices.push("default".to_owned());
        }
        let parts: Vec<String> = whose.into_iter().chain(choices).collect();
        f.write_str(&parts.join(";"))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Layers, Origin, SkipPasses};

    use super::super::optimisations::Ahead;
    use super::*;

    /// Every variant is accepted by the passes.
    #[test]
    fn options_are_options() {
        for order in Variant::orders() {
            for (names, remat) in [Names::Some, Names::Fewest, Names::Llvm].into_iter().zip(Variant::remats()) {
                let variant = Variant::ordered(order, 7).with_registers(names, false).with_remat(remat).with_limit(96);
                let without = Optimisations::without(SkipPasses::GVN | SkipPasses::MACHINE_SINK);
                let variant = variant.optimised(without.toggled(Optimisations::HOIST)).toggled_assembly_loads();
                let ahead = variant.optimised(variant.optimisations().with_ahead(Ahead::STACK));
                assert!(Config::check(&ahead.entry("k", "0").options, Origin::Attribute).is_ok(), "{ahead}");
                assert_eq!(ahead.of_callee().entry("f", "0"), variant.of_callee().entry("f", "0"));
                let entry = variant.entry("k", "0");
                assert!(Config::check(&entry.options, Origin::Attribute).is_ok(), "{variant}");
                assert_eq!((entry.maxnreg, entry.smem_spilling), (Some(96), false));
                let turned = variant.with_turned_loops();
                assert!(Config::check(&turned.entry("k", "0").options, Origin::Attribute).is_ok(), "{turned}");
                assert_eq!(
                    [turned.with_loops_as_they_come(), variant.with_loops_as_they_come()],
                    [Some(variant.clone()), None]
                );
                let shared = variant.with_smem_spilling();
                assert_eq!(shared.entry("k", "0"), Entry { smem_spilling: true, ..entry.clone() });
                assert_eq!(shared.to_string(), format!("{variant};smem-spilling"));
                let kept = variant.with_kept_values(SpillOptions {
                    registers: 255,
                    slack: 24,
                    named: ["%r1", "%rd2"].into_iter().collect(),
                    in_loops: "around",
                    hoists: true,
                    access_bytes: 8,
                    values: Some(3),
                    limit: Some(4096),
                    threads: Some(96),
                    dynamic_shared: 64,
                });
                assert!(Config::check(&kept.entry("k", "0").options, Origin::Attribute).is_ok(), "{kept}");
                let callee = shared.of_callee().entry("f", "0");
                assert_eq!((callee.options, callee.maxnreg, callee.smem_spilling), (entry.options, None, false));
            }
        }
        assert_eq!(Variant::Stock.of_callee().entry("k", "0").options, "off");
        let linked = Variant::DEFAULT.with_limit(96).on_code_of(2);
        assert_eq!((linked.compiler(), linked.entry("k", "0").maxnreg), (2, Some(96)));
        assert_eq!((linked.to_string(), linked.of_callee()), ("also=2;maxnreg=96".into(), Variant::Stock));
        assert_eq!(
            (Variant::Stock.on_code_of(1), Variant::Linked(1).on_code_of(0)),
            (Variant::Linked(1), Variant::Stock)
        );
        assert_eq!((Variant::Linked(1).to_string(), Variant::Linked(1).with_limit(9).compiler()), ("also".into(), 1));
        assert_eq!(Variant::DEFAULT.to_string(), "default");
        assert_eq!(Variant::DEFAULT.on_code_of(1).to_string(), "also;default");
        assert_eq!(Variant::DEFAULT.with_limit(96).to_string(), "maxnreg=96");
        assert_eq!(Variant::DEFAULT.toggled_simd_video().to_string(), "no-simd-video");
        assert_eq!(Variant::DEFAULT.toggled_simd_video().toggled_simd_video(), Variant::DEFAULT);
        assert_eq!(Variant::DEFAULT.toggled_shared_addresses().to_string(), "no-shared-addresses");
        assert_eq!(Variant::DEFAULT.toggled_shared_addresses().toggled_shared_addresses(), Variant::DEFAULT);
    }

    /// The default and stock differ on no axis. A variant with one change differs on one axis.
    #[test]
    fn axes() {
        let kept = SpillOptions { slack: 24, ..SpillOptions::for_registers(255, 0) };
        let of = |variant: Variant| Axis::ALL.into_iter().filter(|&axis| variant.moves_along(axis)).collect::<Vec<_>>();
        let default = Variant::DEFAULT;
        assert_eq!([of(default.clone()), of(Variant::Stock)], [vec![], vec![]]);
        assert_eq!(of(default.optimised(Optimisations::HOIST)), [Axis::Optimisations]);
        assert_eq!(
            [of(Variant::ordered("late", 0)), of(Variant::ordered("source", 3))],
            [[Axis::Order], [Axis::Order]]
        );
        assert_eq!(of(default.toggled_assembly_loads()), [Axis::AssemblyLoads]);
        assert_eq!(of(default.toggled_simd_video()), [Axis::SimdVideo]);
        assert_eq!(of(default.toggled_shared_addresses()), [Axis::SharedAddresses]);
        assert_eq!(of(default.with_remat("peaks")), [Axis::Remat]);
        assert_eq!(of(default.with_bits("on")), [Axis::Remat]);
        assert_eq!(of(default.with_limit(40)), [Axis::Limit]);
        assert_eq!(of(Variant::Stock.with_turned_loops()), [Axis::Loops]);
        assert_eq!(of(default.with_registers(Names::Llvm, true)), [Axis::Names]);
        assert_eq!(of(default.with_registers(Names::Some, false)), [Axis::Names]);
        assert_eq!(of(default.with_kept_values(kept)), [Axis::Kept]);
        assert_eq!(of(default.with_smem_spilling().with_limit(40)), [Axis::Limit, Axis::SmemSpilling]);
        assert_eq!(of(default.with_blocks_said()), [Axis::Blocks]);
        assert_eq!(of(default.toggled_name()), [Axis::KernelName]);
        assert_eq!((default.toggled_name().with_own_name(), default.with_own_name()), (Some(default), None));
    }

    /// The passes' changes and ptxas's options are proved. Changes by LLVM and other compilers are not proved, whatever
    /// the other choices are.
    #[test]
    fn what_is_proved() {
        let ordered = Variant::ordered("late", 3).with_remat("peaks").toggled_assembly_loads().with_bits("on");
        let told = ordered.with_limit(40).with_smem_spilling();
        for proved in
            [Variant::Stock, Variant::DEFAULT, ordered.with_kept_values(SpillOptions::for_registers(255, 0)), told]
        {
            assert!(proved.is_proved(), "{proved}");
            let ahead = Optimisations::ahead_of(Ahead::STACK);
            for optimisations in [Optimisations::HOIST, Optimisations::without(SkipPasses::GVN), ahead] {
                assert!(!proved.optimised(optimisations).is_proved(), "{proved}");
            }
            assert!(!proved.on_code_of(1).is_proved(), "{proved}");
            assert!(!proved.toggled_name().is_proved() && !proved.with_blocks_said().is_proved(), "{proved}");
        }
    }

    /// The choices for a relocatable object are proved, and are neither a limit nor a slot in shared memory.
    #[test]
    fn what_is_safe_when_relocatable() {
        assert!(Axis::ALL.into_iter().all(|axis| axis.is_proved() || !axis.is_safe_when_relocatable()));
        let ordered =
            Variant::ordered("late", 3).with_remat("peaks").with_bits("on").with_registers(Names::Fewest, true);
        for safe in [Variant::Stock, Variant::DEFAULT, ordered] {
            assert!(safe.is_safe_when_relocatable(), "{safe}");
            let others = [safe.with_limit(40), safe.with_smem_spilling(), safe.on_code_of(1)];
            let kept =
                [safe.with_kept_values(SpillOptions::for_registers(255, 0)), safe.optimised(Optimisations::HOIST)];
            for unsafe_one in others.iter().chain(&kept) {
                assert!(!unsafe_one.is_safe_when_relocatable(), "{unsafe_one}");
            }
        }
    }

    /// The options of a variant, together with the defaults, give each pass the variant's choices. A changed default
    /// changes no variant but the default one.
    #[test]
    fn options_say_what_is_chosen() {
        let config = |variant: &Variant| {
            let attribute = variant.entry("k", "0").options;
            Config::resolve(&Layers { attribute: &attribute, ..Layers::default() }).expect(&attribute)
        };
        assert_eq!(config(&Variant::DEFAULT), Config::default());
        let changed = Variant::ordered("late", 7).with_remat("peaks").with_bits("on").toggled_assembly_loads();
        let changed = changed.toggled_simd_video().toggled_shared_addresses();
        for variant in [Variant::DEFAULT, changed] {
            for (names, coalesces) in [(Names::Some, true), (Names::Fewest, false), (Names::Llvm, true)] {
                for optimisations in
                    [Optimisations::DEFAULT, Optimisations::HOIST, Optimisations::ahead_of(Ahead::STACK)]
                {
                    let variant = variant.optimised(optimisations).with_registers(names, coalesces);
                    let (passes, config) = (variant.passes(), config(&variant));
                    assert_eq!((config.order.word(), config.order_seed), (passes.order, passes.seed), "{variant}");
                    assert_eq!(
                        (config.remat.word(), config.bit_spill.word()),
                        (passes.remat, passes.bits),
                        "{variant}"
                    );
                    let switches = [config.assembly_loads, config.simd_video, config.shared_addresses];
                    let chosen = [passes.assembly_loads, passes.expands_simd_video, passes.shares_addresses];
                    assert_eq!((switches, config.join_liveintervals), (chosen, passes.coalesces), "{variant}");
                    let renaming = match names {
                        Names::Some => (TABLE.rename, TABLE.rename_all),
                        Names::Fewest => (true, true),
                        Names::Llvm => (false, TABLE.rename_all),
                    };
                    assert_eq!((config.rename, config.rename_all), renaming, "{variant}");
                    assert_eq!(Optimisations::of(&config), optimisations, "{variant}");
                }
            }
        }
    }

    /// Each order is in the list once.
    #[test]
    fn orders_are_different() {
        let orders: Vec<&str> = Variant::orders().collect();
        let mut unique = orders.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(orders.len(), unique.len());
        assert!(orders.len() >= 7);
    }
}
