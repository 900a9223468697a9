//! The part of a function that a pass reads.

use std::borrow::Cow;

use super::{loop_shape, regalloc, remat, schedule, shared_addresses};
use crate::config::{CSSA, Config, LOOP_SHAPE, REGALLOC, REMAT, RENAME, SCHEDULE, SHARED_ADDRESSES, SIMD_VIDEO};
use crate::function::assembly::may_access_shared;
use crate::function::simd_video::may_be_in;
use crate::spill::remat::LONG;

/// The part of a function that a pass reads. The view needs only this part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Nothing: the pass leaves the function unchanged.
    Nothing,
    /// PHIs, terminators, the first instruction after the PHIs and the last instruction of each block, and all
    /// registers that PHIs use. Other registers may lack their definition.
    Phis,
    /// The whole function.
    Whole,
}

/// Counts of a function's contents, computed without a view.
#[derive(Clone, Debug, Default)]
pub struct Census<'a> {
    /// Instructions. Debug instructions do not count, so that -g changes nothing.
    pub instructions: u64,
    /// PHIs among them.
    pub phis: u64,
    /// Accesses to shared memory, except accesses in inline assembly.
    pub shared_accesses: u64,
    /// Blocks that end in two jumps.
    pub two_jumps: u64,
    /// Texts of inline assembly.
    pub assembly: Vec<Cow<'a, str>>,
}

/// Whether the pass called `name` leaves every function unchanged.
pub fn is_idle(name: &str, config: &Config) -> bool {
    match name {
        SIMD_VIDEO => !config.simd_video,
        SHARED_ADDRESSES => shared_addresses::is_idle(config),
        REMAT => remat::is_idle(config),
        SCHEDULE => schedule::is_idle(config),
        REGALLOC => regalloc::is_idle(config),
        LOOP_SHAPE => loop_shape::is_idle(config),
        RENAME => !config.rename,
        _ => false,
    }
}

/// Returns the part of a function that the pass called `name` reads. `census` is called only if the result depends on
/// it.
pub fn scope<'a>(name: &str, config: &Config, census: impl FnOnce() -> Census<'a>) -> Scope {
    if is_idle(name, config) {
        return Scope::Nothing;
    }
    if shows_the_function(config) {
        return Scope::Whole;
    }
    let concerns: fn(&Census<'_>) -> bool = match name {
        CSSA => |census| census.phis > 0,
        SIMD_VIDEO => |census| census.assembly.iter().any(|text| may_be_in(text)),
        SHARED_ADDRESSES => {
            |census| census.shared_accesses > 0 || census.assembly.iter().any(|text| may_access_shared(text))
        }
        REMAT if remat::needs_many(config) => |census| census.instructions >= LONG as u64,
        LOOP_SHAPE => |census| census.two_jumps > 0,
        _ => return Scope::Whole,
    };
    match concerns(&census()) {
        false => Scope::Nothing,
        true if name == CSSA => Scope::Phis,
        true => Scope::Whole,
    }
}

/// Whether the checker, statistics, or a trace needs the whole function.
fn shows_the_function(config: &Config) -> bool {
    let checks = config.verify || config.verify_coalescing;
    let counts = config.stats.is_some();
    let prints = config.dump_before_cssa || config.cssa_verbosity != 0 || !config.trace.is_empty();
    checks || counts || prints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{COPY_COALESCER, Layers};

    fn of(name: &str, parameters: &str, census: Census<'_>) -> Scope {
        let config = Config::resolve(&Layers { parameters, ..Layers::default() }).expect("the options are right");
        scope(name, &config, || census)
    }

    fn none<'a>() -> Census<'a> {
        Census::default()
    }

    fn says(text: &str) -> Census<'_> {
        Census { assembly: vec!["mov.b32 $0, $1;".into(), text.into()], ..none() }
    }

    /// A pass reads only functions that contain code that it may change.
    #[test]
    fn what_concerns_a_pass() {
        assert_eq!(of(CSSA, "", none()), Scope::Nothing);
        assert_eq!(of(CSSA, "", Census { phis: 1, ..none() }), Scope::Phis);
        assert_eq!(of(LOOP_SHAPE, "loop-shape=on", none()), Scope::Nothing);
        assert_eq!(of(LOOP_SHAPE, "loop-shape=on", Census { two_jumps: 1, ..none() }), Scope::Whole);
        assert_eq!(of(SHARED_ADDRESSES, "shared-addresses", none()), Scope::Nothing);
        assert_eq!(of(SHARED_ADDRESSES, "shared-addresses", Census { shared_accesses: 1, ..none() }), Scope::Whole);
        for (text, scope) in [
            ("ld.shared.b32 $0, [$1];", Scope::Whole),
            ("ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1];", Scope::Whole),
            ("ld.global.b32 $0, [$1];", Scope::Nothing),
        ] {
            assert_eq!(of(SHARED_ADDRESSES, "shared-addresses", says(text)), scope, "{text}");
        }
        for (text, scope) in
            [("vsub4.u32.u32.u32.sat $0, $1, $2, $3;", Scope::Whole), ("add.u32 $0, $1, $2;", Scope::Nothing)]
        {
            assert_eq!(of(SIMD_VIDEO, "simd-video", says(text)), scope, "{text}");
        }
    }

    /// A short function has few live words, so rematerialisation at high pressure does not read it.
    #[test]
    fn short_functions() {
        let long = |instructions| Census { instructions, ..none() };
        assert_eq!(of(REMAT, "remat=widened", long(LONG as u64 - 1)), Scope::Nothing);
        assert_eq!(of(REMAT, "remat=widened", long(LONG as u64)), Scope::Whole);
        assert_eq!(of(REMAT, "remat=peaks", none()), Scope::Whole);
    }

    /// The census is taken only if a decision depends on it.
    #[test]
    fn the_census_is_taken_where_it_matters() {
        let taken = |name, parameters| {
            let config = Config::resolve(&Layers { parameters, ..Layers::default() }).expect("the options are right");
            let mut taken = false;
            let scope = scope(name, &config, || {
                taken = true;
                Census::default()
            });
            (scope, taken)
        };
        assert_eq!(taken(REMAT, "remat=off"), (Scope::Nothing, false));
        assert_eq!(taken(COPY_COALESCER, ""), (Scope::Whole, false));
        assert_eq!(taken(CSSA, "verify"), (Scope::Whole, false));
        assert_eq!(taken(LOOP_SHAPE, "loop-shape=off;verify"), (Scope::Nothing, false));
        assert_eq!(taken(CSSA, ""), (Scope::Nothing, true));
    }
}
