//! Where the passes stand in LLVM's code generator.

use crate::config::{
    COPY_COALESCER, CSSA, CoalescerPosition, Config, FORECAST, LOOP_SHAPE, REGALLOC, REMAT, RENAME, SCHEDULE,
    SHARED_ADDRESSES, SIMD_VIDEO,
};

/// A pass in the code generator's pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pass.
    pub pass: &'static str,
    /// The pass of LLVM that it stands behind, by the name that LLVM registers it under.
    pub anchor: &'static str,
    /// It stands in the place of that.
    pub replaces: bool,
    /// It stands directly behind the pass ahead of it in the list: nothing else changes a function in between.
    pub follows: bool,
    /// Block frequencies and loops are computed for it, where they are not there already.
    pub with_analyses: bool,
}

/// Behind PHI elimination and the lowering of two-address instructions, ahead of LLVM's coalescer: of the anchors here,
/// the only one that runs at -O0.
const AHEAD_OF_COALESCER: &str = "twoaddressinstruction";

/// Behind LLVM's coalescer. The machine scheduler is the last to need LiveIntervals, which would have to be computed
/// again if something stood ahead of it.
const BEHIND_COALESCER: &str = "machine-scheduler";

/// Behind the last pass that numbers instructions, which would have to be done again, and ahead of all that lays out
/// blocks and frames. At -O0 it does not run.
const BEHIND_NUMBERS: &str = "stack-slot-coloring";

/// The last pass ahead of those that only prepare for the printer. No option takes it out, unlike them. At -O0 it does
/// not run.
const AHEAD_OF_PRINTER: &str = "xray-instrumentation";

/// The passes and where they stand; those behind the same anchor in this order.
///
/// Passes that do nothing by default stand there, too: a function's own attribute may ask for them. They make no view
/// where nobody does.
pub fn places(config: &Config, optimises: bool) -> Vec<Place> {
    let mut places = Vec::<Place>::new();
    let mut add = |pass, anchor, with_analyses, replaces| {
        let follows = places.last().is_some_and(|ahead| ahead.anchor == anchor && !ahead.replaces);
        places.push(Place { pass, anchor, replaces, follows, with_analyses });
    };
    let with_analyses = optimises;
    if config.cssa {
        // Behind the last pass that changes code in SSA form. PHI elimination and the analyses that it needs come next. At
        // -O0 frequencies would cost more than all the other passes.
        add(CSSA, "nvptx-proxyreg-erasure", with_analyses, false);
    }
    // Block frequencies are computed for the coalescer ahead of LLVM's; everything up to stack slot colouring, which needs
    // them, keeps them, so that they are computed as often as without it.
    match (config.position, optimises) {
        (CoalescerPosition::Off, _) => (),
        (CoalescerPosition::After, true) => add(COPY_COALESCER, BEHIND_COALESCER, with_analyses, false),
        (CoalescerPosition::Instead, true) => add(COPY_COALESCER, "register-coalescer", with_analyses, true),
        _ => add(COPY_COALESCER, AHEAD_OF_COALESCER, with_analyses, false),
    }
    // Directly behind the coalescer, where the code is as the forecast is fitted to, and ahead of renaming. It costs
    // nothing where nobody wants it, which shows only when the code generator runs.
    add(FORECAST, if optimises { BEHIND_COALESCER } else { AHEAD_OF_COALESCER }, false, false);
    if optimises {
        // Both stand ahead of the passes that look at what is live. The first only changes texts. The second wants one
        // definition of each address, as the coalescers leave it.
        add(SIMD_VIDEO, BEHIND_NUMBERS, false, false);
        add(SHARED_ADDRESSES, BEHIND_NUMBERS, false, false);
        // The coalescers leave rematerialisation no copies, and its clones are ordered with the rest.
        add(REMAT, BEHIND_NUMBERS, false, false);
        // An order would depend on the coalescers' work.
        add(SCHEDULE, BEHIND_NUMBERS, false, false);
        // What is live depends on the order.
        add(REGALLOC, BEHIND_NUMBERS, false, false);
        // Behind block placement, where the two jumps come into being, and ahead of renaming, which gives predicates other
        // readers.
        add(LOOP_SHAPE, AHEAD_OF_PRINTER, false, false);
    }
    if config.rename {
        // Behind every pass that looks at single definitions, as NVPTX's peephole does, or that merges blocks where they are
        // equal, as branch folding and block placement do, for with shared names more are. At -O0 nothing behind the
        // frame's lowering does either.
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

    /// At -O0 only the coalescer and the forecast run, and what is asked for; no analysis is computed.
    #[test]
    fn without_optimisation() {
        assert_eq!(names("rename=off", false), [COPY_COALESCER, FORECAST]);
        assert_eq!(names("cssa;rename;position=off", false), [CSSA, FORECAST, RENAME]);
        assert!(places(&config("cssa;rename"), false).iter().all(|place| !place.with_analyses));
    }

    /// The coalescer stands where it is asked to, and nothing but it replaces a pass of LLVM.
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

    /// Only directly behind the coalescer is a function flattened once for it and the forecast.
    #[test]
    fn forecasts() {
        let directly = |position: &str, optimises| {
            let places = places(&config(&format!("position={position}")), optimises);
            places.iter().any(|place| place.pass == FORECAST && place.follows)
        };
        assert!(directly("after", true) && directly("after", false) && directly("before", false));
        assert!(!directly("before", true) && !directly("instead", true) && !directly("off", false));
    }

    /// Passes behind one anchor follow each other, the first of them follows none.
    #[test]
    fn neighbours() {
        let places = places(&config("cssa;rename"), true);
        let follow: Vec<&str> = places.iter().filter(|place| place.follows).map(|place| place.pass).collect();
        assert_eq!(follow, [FORECAST, SHARED_ADDRESSES, REMAT, SCHEDULE, REGALLOC, RENAME]);
    }
}
