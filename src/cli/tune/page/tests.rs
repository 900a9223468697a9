//! The page of a small search, and what must hold of every page.

use std::path::Path;

use super::super::agreement::Agreement;
use super::super::benchmark::Timing;
use super::super::figures::tests::figures;
use super::super::search::Kernel;
use super::super::search::tests::{aim, kernel};
use super::super::variant::{Axis, Names, Variant};
use super::axes::{Share, share};
use super::*;

/// A name that would be a script, an entity and the end of an attribute, were it not escaped.
const HOSTILE: &str = "<script>alert(1)</script>&\"'";

/// A kernel on which this was tried.
fn tried(name: &str, variants: &[(Variant, Option<Figures>)]) -> Kernel {
    let mut kernel = kernel();
    name.clone_into(&mut kernel.name);
    for (number, (variant, figures)) in variants.iter().enumerate() {
        match figures {
            Some(figures) => kernel.record(&aim(0), *variant, number.to_string(), Some(*figures)),
            None => kernel.lose(*variant, None, "refused".into()),
        }
    }
    kernel.findings.winner = Some(Agreement::Same);
    kernel
}

/// Two kernels: the first wins by an order with a limit, and would win less by the order alone; the second by names.
fn kernels() -> [Kernel; 2] {
    let order = Variant::ordered("eager", 0);
    let names = Variant::DEFAULT.with_registers(Names::Fewest, true);
    [
        tried(
            "attention",
            &[
                (Variant::DEFAULT, Some(figures(100, 32, 500))),
                (order, Some(figures(60, 32, 490))),
                (order.with_limit(64), Some(figures(20, 32, 480))),
                (Variant::ordered("late", 0), Some(figures(0, 16, 400))),
                (Variant::ordered("bottom-up", 0), None),
            ],
        ),
        tried(HOSTILE, &[(Variant::DEFAULT, Some(figures(100, 32, 500))), (names, Some(figures(96, 40, 500)))]),
    ]
}

fn tuned<'a>(kernels: &'a [Kernel], aim: &'a Aim) -> Tuned<'a> {
    let outcome = |kernel: &'a Kernel| {
        let (variant, figures) = kernel.best(aim);
        Outcome { kernel, variant, figures }
    };
    let kernels = kernels.iter().map(outcome).collect();
    Tuned { input: "in/<page>.ptx", aim, stock: "as given", runs: 9, is_cut: false, kernels }
}

/// The page of two kernels is the one that was looked at in a browser.
#[test]
fn the_page_of_a_small_search() {
    let actual = page(&tuned(&kernels(), &aim(0)));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tune_page.html");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &actual).expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.split('>').zip(actual.split('>')).find(|(old, new)| old != new);
    assert!(actual == expected, "{}: {differs:?}; UPDATE_EXPECT=1 accepts the new page", path.display());
}

/// No text of the input is markup, and a page loads nothing.
#[test]
fn names_are_escaped_and_nothing_is_loaded() {
    let page = page(&tuned(&kernels(), &aim(0)));
    assert!(!page.contains("<script") && page.matches("<style").count() == 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;") && page.contains("&lt;page&gt;.ptx"));
    assert!(page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// What an axis won is what the best without it spills more; where another axis wins as much, no kernel needs it.
#[test]
fn shares_of_axes() {
    let (kernels, aim) = (kernels(), aim(0));
    let tuned = tuned(&kernels, &aim);
    let of = |axis| share(&tuned, axis);
    assert_eq!(of(Axis::Order), Share { tried: 4, winners: 1, needed: 1, bytes: 80 });
    assert_eq!(of(Axis::Limit), Share { tried: 1, winners: 1, needed: 1, bytes: 40 });
    assert_eq!(of(Axis::Names), Share { tried: 1, winners: 1, needed: 1, bytes: 4 });
    assert_eq!(of(Axis::Kept), Share { tried: 0, winners: 0, needed: 0, bytes: 0 });
}

/// A benchmark has a column of its own, and a search that was cut says so.
#[test]
fn what_is_not_always_there() {
    let (mut kernels, aim) = (kernels(), aim(0));
    let plain = page(&tuned(&kernels, &aim));
    assert!(!plain.contains("benchmark") && !plain.contains("cut by an interruption"));
    kernels[0].stock.timing = Some(Timing { median: 12.5, spread: 0.5 });
    for (_, figures) in &mut kernels[0].tried {
        *figures = figures.map(|figures| Figures { timing: Some(Timing { median: 10.25, spread: 0.5 }), ..figures });
    }
    let timed = page(&Tuned { is_cut: true, ..tuned(&kernels, &aim) });
    assert!(timed.contains("12.5 → 10.25") && timed.contains("cut by an interruption"), "{timed}");
}

/// Many kernels: only the one that gained most is open, and long searches have short lists.
#[test]
fn a_page_of_many_kernels() {
    let many: Vec<(Variant, Option<Figures>)> =
        (0..500).map(|seed| (Variant::ordered("eager", seed), Some(figures(600 - seed, 32, 500)))).collect();
    let kernels: Vec<Kernel> = (0..20).map(|number| tried(&format!("k{number}"), &many)).collect();
    let page = page(&tuned(&kernels, &aim(0)));
    assert_eq!((page.matches("<details").count(), page.matches("<details open").count()), (20, 1));
    assert!(page.len() < 20 * 20_000, "{}", page.len());
}
