//! A way to compile a kernel, and the ways near it.

use nvptx_ra::config::find;
use nvptx_ra::profile::Entry;

/// How registers are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// As the passes do it by default.
    Some,
    /// As few names as there can be.
    Fewest,
    /// As LLVM has them.
    Llvm,
}

/// A way to compile a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// As LLVM does without the passes.
    Stock,
    /// With the passes.
    Passes {
        /// The order of instructions, by the name of the option.
        order: &'static str,
        /// What changes the order at random; 0: nothing.
        seed: u32,
        /// Whether copies are coalesced.
        coalesces: bool,
        names: Names,
        /// Where values are computed again, by the name of the option.
        remat: &'static str,
        /// `.maxnreg`; `None` leaves the kernel's own.
        max_registers: Option<u32>,
    },
}

impl Variant {
    /// The passes as they are by default.
    pub(super) const DEFAULT: Self = Self::ordered("source", 0);

    /// The defaults, but for the order.
    pub(super) const fn ordered(order: &'static str, seed: u32) -> Self {
        Self::Passes { order, seed, coalesces: true, names: Names::Some, remat: "off", max_registers: None }
    }

    /// The orders that there are, those first that help most often.
    pub(super) fn orders() -> impl Iterator<Item = &'static str> {
        let first = ["source", "late", "bottom-up", "loads-late"];
        let known = find("order").map_or(&[][..], |spec| spec.shape.choices()).iter().map(|choice| choice.name);
        first.into_iter().chain(known.filter(move |name| !first.contains(name)))
    }

    /// The same with another order; stock becomes the default.
    pub(super) fn with_order(&self, to: &'static str, to_seed: u32) -> Self {
        match self.clone() {
            Self::Stock => Self::ordered(to, to_seed),
            Self::Passes { coalesces, names, remat, max_registers, .. } => {
                Self::Passes { order: to, seed: to_seed, coalesces, names, remat, max_registers }
            }
        }
    }

    /// The same with a limit on registers.
    pub(super) fn with_limit(&self, limit: u32) -> Self {
        match self.clone() {
            Self::Stock => Self::DEFAULT.with_limit(limit),
            Self::Passes { order, seed, coalesces, names, remat, .. } => {
                Self::Passes { order, seed, coalesces, names, remat, max_registers: Some(limit) }
            }
        }
    }

    /// The same with other names and other coalescing.
    pub(super) fn with_registers(&self, to_names: Names, coalesce: bool) -> Self {
        match self.clone() {
            Self::Stock => Self::DEFAULT.with_registers(to_names, coalesce),
            Self::Passes { order, seed, remat, max_registers, .. } => {
                Self::Passes { order, seed, coalesces: coalesce, names: to_names, remat, max_registers }
            }
        }
    }

    /// The places where values may be computed again.
    pub(super) fn remats() -> impl Iterator<Item = &'static str> {
        find("remat").map_or(&[][..], |spec| spec.shape.choices()).iter().map(|choice| choice.name)
    }

    /// The same with values computed again elsewhere.
    pub(super) fn with_remat(&self, to: &'static str) -> Self {
        match self.clone() {
            Self::Stock => Self::DEFAULT.with_remat(to),
            Self::Passes { order, seed, coalesces, names, max_registers, .. } => {
                Self::Passes { order, seed, coalesces, names, remat: to, max_registers }
            }
        }
    }

    /// The order and its seed.
    pub(super) fn order(&self) -> &'static str {
        match self {
            Self::Stock => "source",
            Self::Passes { order, .. } => order,
        }
    }

    /// Whether it sets `.maxnreg`.
    pub(super) fn limits_registers(&self) -> bool {
        matches!(self, Self::Passes { max_registers: Some(_), .. })
    }

    /// The entry of a profile that asks for it.
    pub(super) fn entry(&self, name: &str, hash: &str) -> Entry {
        let (options, maxnreg) = match self {
            Self::Stock => ("off".to_owned(), None),
            Self::Passes { max_registers, .. } => (self.options(), *max_registers),
        };
        Entry { name: name.to_owned(), hash: hash.to_owned(), options, maxnreg }
    }

    /// Those options that are not the defaults.
    fn options(&self) -> String {
        let Self::Passes { order, seed, coalesces, names, remat, .. } = self else { return "off".into() };
        let mut options = Vec::new();
        if *order != "source" {
            options.push(format!("order={order}"));
        }
        if *seed != 0 {
            options.push(format!("order-seed={seed}"));
        }
        if *remat != "off" {
            options.push(format!("remat={remat}"));
        }
        if !coalesces {
            options.push("no-join-liveintervals".into());
        }
        match names {
            Names::Some => {}
            Names::Fewest => options.push("rename-all".into()),
            Names::Llvm => options.push("no-rename".into()),
        }
        options.join(";")
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let options = self.options();
        match self {
            Self::Stock => f.write_str("stock"),
            Self::Passes { max_registers: Some(limit), .. } if options.is_empty() => write!(f, "maxnreg={limit}"),
            Self::Passes { max_registers: Some(limit), .. } => write!(f, "{options};maxnreg={limit}"),
            Self::Passes { .. } if options.is_empty() => f.write_str("default"),
            Self::Passes { .. } => f.write_str(&options),
        }
    }
}

#[cfg(test)]
mod tests {
    use nvptx_ra::config::{Config, Origin};

    use super::*;

    /// Every variant is one that the passes take.
    #[test]
    fn options_are_options() {
        for order in Variant::orders() {
            for (names, remat) in [Names::Some, Names::Fewest, Names::Llvm].into_iter().zip(Variant::remats()) {
                let variant = Variant::ordered(order, 7).with_registers(names, false).with_remat(remat).with_limit(96);
                let entry = variant.entry("k", "0");
                assert!(Config::check(&entry.options, Origin::Attribute).is_ok(), "{variant}");
                assert_eq!(entry.maxnreg, Some(96));
            }
        }
        assert_eq!(Variant::Stock.entry("k", "0").options, "off");
        assert_eq!(Variant::DEFAULT.to_string(), "default");
    }

    /// Each order stands once in the list.
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
