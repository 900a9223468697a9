use std::collections::BTreeMap;

use nvptx_ra::tune::predicted::Source;

use super::super::build::PtxasWarning;
use super::*;

pub(in super::super) fn same() -> Meaning {
    Meaning::Same { launches: 4, statements: [9, 9] }
}

/// Makes a kernel with the same figures on both sides.
pub(in super::super) fn kernel() -> Kernel {
    let side = || Side {
        figures: Figures { registers: 32, warps: 64, instructions: 500, ..Figures::default() },
        meaning: same(),
    };
    Kernel { name: "k".into(), line: 7, sides: [side(), side()], time: None, is_same_code: false }
}

fn with(change: impl FnOnce(&mut Figures)) -> Kernel {
    let mut kernel = kernel();
    change(&mut kernel.sides[1].figures);
    kernel
}

fn timed(ratio: f64) -> Kernel {
    let of = [100.0; 2];
    let time = Predicted { stock: of, variant: of, ratio, uncertainty: 1.11, source: Source::Run };
    Kernel { time: Some(time), ..kernel() }
}

fn texts(kernel: &Kernel) -> Vec<String> {
    kernel.changes(0.05).into_iter().map(|change| change.text).collect()
}

/// Changes of spills, stack, warps and losses are worse or better; changes of registers and instructions are neither.
#[test]
fn figures() {
    let rank = |kernel: &Kernel| kernel.rank(0.05);
    assert_eq!((rank(&kernel()), texts(&kernel())), (Rank::Other, Vec::new()));
    let spills = with(|of| (of.spilled, of.registers) = (96, 40));
    assert_eq!((rank(&spills), spills.is_worse(0.05)), (Rank::Worse, true));
    assert_eq!(texts(&spills), ["0 → 96 bytes spilled", "32 → 40 registers"]);
    assert_eq!(rank(&with(|of| of.warps = 48)), Rank::Worse);
    assert_eq!(rank(&with(|of| of.stack = 8)), Rank::Worse);
    assert_eq!(rank(&with(|of| of.registers = 64)), Rank::Other);
    let mut better = with(|of| of.spilled = 0);
    better.sides[0].figures.spilled = 8;
    assert_eq!((rank(&better), better.is_worse(0.05)), (Rank::Better, false));
    let mut little = with(|of| of.spilled = 104);
    little.sides[0].figures.spilled = 100;
    assert_eq!((rank(&little), little.rank(0.03)), (Rank::Other, Rank::Worse));
}

/// A change of predicted time counts if it is beyond the tolerance and beyond the model's error.
#[test]
fn times() {
    let rank = |ratio, tolerance| timed(ratio).rank(tolerance);
    assert_eq!((rank(1.15, 0.05), rank(1.1, 0.05), rank(1.15, 0.2)), (Rank::Worse, Rank::Other, Rank::Other));
    assert_eq!((rank(0.85, 0.05), rank(0.95, 0.0)), (Rank::Better, Rank::Other));
    assert_eq!(texts(&timed(1.15)), ["predicted time +15 %"]);
    assert_eq!(texts(&timed(1.001)), [""; 0]);
    assert_eq!(percent(0.85), "−15 %");
}

/// Machine code that differs from its PTX comes first and is a failure, on either side.
#[test]
fn meanings() {
    for which in 0..2 {
        let mut kernel = kernel();
        kernel.sides[which].meaning = Meaning::Different("at p+4".into());
        assert!(kernel.is_worse(1.0) && kernel.is_comparable());
        assert_eq!(kernel.rank(1.0), Rank::Meaning);
        assert!(texts(&kernel)[0].starts_with("compared with the PTX: "), "{:?}", texts(&kernel));
        kernel.sides[which].meaning = Meaning::NotComparable("a race".into());
        assert!(!kernel.is_worse(1.0) && !kernel.is_comparable());
    }
}

/// More messages about a loss are worse. Other messages are only reported.
#[test]
fn words() {
    let said = |count, is_loss| PtxasWarning { text: "wgmma is serialized".into(), count, is_loss };
    let kernel = |is_loss| with(|of| of.said = BTreeMap::from([("C7510".into(), said(2, is_loss))]));
    assert_eq!((kernel(true).rank(0.05), kernel(false).rank(0.05)), (Rank::Worse, Rank::Other));
    assert_eq!(texts(&kernel(true)), ["0 → 2 times C7510: wgmma is serialized"]);
    let mut fewer = kernel(true);
    fewer.sides.swap(0, 1);
    assert_eq!(fewer.rank(0.05), Rank::Better);
    assert_eq!(texts(&fewer), ["2 → 0 times C7510: wgmma is serialized"]);
}
