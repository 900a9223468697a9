//! Positions of the passes in LLVM's code generator.

use crate::config::{
    COPY_COALESCER, CSSA, CoalescerPosition, Config, FORECAST, LOOP_SHAPE, REGALLOC, REMAT, RENAME, SCHEDULE,
    SHARED_ADDRESSES, SIMD_VIDEO,
};

/// Position of a pass in the code generator's pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pass.
    pub pass: &'static str,
    /// LLVM's pass before it, by the name of its registration.
    pub anchor: &'static str,
    /// Whether it replaces LLVM's pass.
    pub replaces: bool,
    /// Whether it directly follows the previous pass of the list, with no other pass in between.
    pub follows: bool,
    /// Whether block frequencies and loops are computed for the pass, if they are not available.
    pub with_analyses: bool,
}

/// After PHI elimination and the lowering of two-address instructions, before LLVM's coalescer. This is the only anchor
/// here that runs at -O0.
const AHEAD_OF_COALESCER: &str = "twoaddressinstruction";

/// After LLVM's coalescer. The machine scheduler is the last pass that needs LiveIntervals, which an earlier position
/// would force LLVM to recompute.
const BEHIND_COALESCER: &str = "machine-scheduler";

/// After the last pass that numbers instructions, so that the numbering is not repeated, and before all passes that lay
/// out blocks and frames. It does not run at -O0.
const BEHIND_NUMBERS: &str = "stack-slot-coloring";

/// The last pass before the passes that only prepare for the printer. Unlike these, no option disables it. It does not
/// run at -O0.
const AHEAD_OF_PRINTER: &str = "xray-instrumentation";

/// Returns the passes with their positions; passes with the same anchor run in this order.
///
/// Passes that do nothing by default are included, because an attribute of a function may enable them. They do not
/// create a view unless enabled.
pub fn places(config: &Config, optimises: bool) -> Vec<Place> {
    let mut places = Vec::<Place>::new();
    let mut add = |pass, anchor, with_analyses, replaces| {
        let follows = places.last().is_some_and(|ahead| ahead.anchor == anchor && !ahead.replaces);
        places.push(Place { pass, anchor, replaces, follows, with_analyses });
    };
    let with_analyses = optimises;
    if config.cssa {
        // After the last pass that changes code in SSA form. PHI elimination, with the analyses that it needs, follows.
        // At -O0, computing frequencies would take longer than all other passes together.
        add(CSSA, "nvptx-proxyreg-erasure", with_analyses, false);
    }
    // The coalescer needs block frequencies before LLVM does. The passes up to stack slot colouring, which also needs
    // the frequencies, preserve them, so LLVM does not compute them again.
    match (config.position, optimises) {
        (CoalescerPosition::Off, _) => (),
        (CoalescerPosition::After, true) => add(COPY_COALESCER, BEHIND_COALESCER, with_analyses, false),
        (CoalescerPosition::Instead, true) => add(COPY_COALESCER, "register-coalescer", with_analyses, true),
        _ => add(COPY_COALESCER, AHEAD_OF_COALESCER, with_analyses, false),
    }
    // Directly after the coalescer, because the forecast is fitted to coalesced code, and before renaming. Whether the
    // forecast is enabled is known only when the code generator runs. A disabled forecast costs nothing.
    add(FORECAST, if optimises { BEHIND_COALESCER } else { AHEAD_OF_COALESCER }, false, false);
    if optimises {
        // Both passes run before the passes that analyse liveness. The first changes only inline assembly. The second
        // needs one definition of each address, as the coalescers leave it.
        add(SIMD_VIDEO, BEHIND_NUMBERS, false, false);
        add(SHARED_ADDRESSES, BEHIND_NUMBERS, false, false);
        // After the coalescers, so that rematerialisation has no copies to consider. The scheduler then also orders the
        // clones.
        add(REMAT, BEHIND_NUMBERS, false, false);
        // After the coalescers, because they would change the order.
        add(SCHEDULE, BEHIND_NUMBERS, false, false);
        // After the scheduler, because liveness depends on the order.
        add(REGALLOC, BEHIND_NUMBERS, false, false);
        // After block placement, which creates the two jumps, and before renaming, which gives predicates other
        // readers.
        add(LOOP_SHAPE, AHEAD_OF_PRINTER, false, false);
    }
    if config.rename {
        // After every pass that relies on single definitions, like NVPTX's peephole pass, or that merges equal blocks,
        // like branch folding and block placement: with shared names, more blocks are equal. At -O0, no such pass
        // follows the frame's lowering.
        add(RENAME, if optimises { AHEAD_OF_PRINTER } else { "nvptx-prolog-epilog" }, false, false);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn config(parameters: &str) -> Config {
        Config::resolve(&Layers { command_line: parameters, ..Layers::default() }).expect("the options are right")
    }

    fn names(parameters: &str, optimises: bool) -> Vec<&'static str> {
        places(&config(parameters), optimises).iter().map(|place| place.pass).collect()
    }

    /// At -O0, only the coalescer, the forecast and requested passes run, and no analysis is computed.
    #[test]
    fn without_optimisation() {
        assert_eq!(names("rename=off", false), [COPY_COALESCER, FORECAST]);
        assert_eq!(names("cssa;rename;position=off", false), [CSSA, FORECAST, RENAME]);
        assert!(places(&config("cssa;rename"), false).iter().all(|place| !place.with_analyses));
    }

    /// The coalescer runs at its requested position, and it is the only pass that replaces a pass of LLVM.
    #[test]
    fn positions() {
        let of = |position: &str, optimises| {
            let places = places(&config(&format!("position={position}")), optimises);
            let coalescer = places.iter().find(|place| place.pass == COPY_COALESCER);
            assert!(places.iter().all(|place| !place.replaces || place.pass == COPY_COALESCER));
            coalescer.map(|place| (place.anchor, place.replaces))
        };
        assert_eq!(of("off", true), None);
        assert_eq!(of("before", true), Some((AHEAD_OF_COALESCER, false)));
        assert_eq!(of("after", true), Some((BEHIND_COALESCER, false)));
        assert_eq!(of("instead", true), Some(("register-coalescer", true)));
        assert_eq!(of("instead", false), Some((AHEAD_OF_COALESCER, false)));
    }

    /// The coalescer and the forecast share one view of a function only if the forecast directly follows the coalescer.
    #[test]
    fn forecasts() {
        let directly = |position: &str, optimises| {
            let places = places(&config(&format!("position={position}")), optimises);
            places.iter().any(|place| place.pass == FORECAST && place.follows)
        };
        assert!(directly("after", true) && directly("after", false) && directly("before", false));
        assert!(!directly("before", true) && !directly("instead", true) && !directly("off", false));
    }

    /// Passes at the same anchor follow each other. The first of them does not follow any pass of the list.
    #[test]
    fn neighbours() {
        let places = places(&config("cssa;rename"), true);
        let follow: Vec<&str> = places.iter().filter(|place| place.follows).map(|place| place.pass).collect();
        assert_eq!(follow, [FORECAST, SHARED_ADDRESSES, REMAT, SCHEDULE, REGALLOC, RENAME]);
    }
}
