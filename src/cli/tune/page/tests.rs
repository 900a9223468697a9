//! The page of a small search, and properties of every page.

use nvptx_ra::index::EntityIndex as _;
use nvptx_ra::target::machine::{Architecture, SHARED_COST};
use nvptx_ra::tune::axis::Axis;
use nvptx_ra::tune::block_sizes::BlockSizes;
use nvptx_ra::tune::figures::{Allowance, Block, preference};
use nvptx_ra::tune::findings::Compared;
use nvptx_ra::tune::objective::RunLimits;
use nvptx_ra::tune::optimisations::Choices;
use nvptx_ra::tune::ptxas_output::{PtxasReport, Sass};
use nvptx_ra::tune::question::{Answer, NoAnswer, Question};
use nvptx_ra::tune::search::{KernelId, Search};
use nvptx_ra::tune::timing::Timing;

use super::axes::{Share, share};
use super::*;
use crate::golden;
use crate::page::assert_loads_nothing;

/// A name that would be a script, an entity and the end of an attribute if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script>&\"'";

fn figures(spills: u32, warps: u32, instructions: u32) -> Figures {
    let ptxas_report = PtxasReport { registers: 64, spill_store_bytes: spills, ..PtxasReport::default() };
    let sass = Sass { instructions, local: spills / 4, ..Sass::default() };
    Figures {
        ptxas_report,
        sass,
        warps,
        blocks: BlockSizes::default(),
        shared_spills: 0,
        shared_spill_cost: 0,
        counts_arrays: false,
        counts_instructions_alone: false,
        timing: None,
        least_counts: [0; 2],
        rolled: None,
    }
}

/// Runs a search of PTX kernels. `judge` returns the figures of a variant, by the kernel's name and the variant's
/// options.
fn search(names: &[&str], runs: usize, judge: impl Fn(&str, &str) -> Option<Figures>) -> Search {
    let architecture = Architecture::by_name("sm_90").expect("is known");
    let (allowance, preference) = (Allowance::default(), preference(&[]));
    let objective = Objective { architecture, allowance, seed: 0, preference, shared_cost: SHARED_COST };
    let block = Block { threads: Some(128), says_threads: true, dynamic_shared: None };
    let stock = |name: &str| judge(name, "stock").expect("stock is judged");
    let kernel = |name: &&str| Kernel::new(name, "0", block, stock(name), "stock".into(), Choices::Nothing);
    let kernels = names.iter().map(kernel).collect::<Vec<_>>().into();
    let mut search = Search { objective, run_limits: RunLimits::of_runs(runs), kernels };
    for (number, name) in names.iter().enumerate() {
        let id = KernelId::new(number);
        let answer = |question: &Question| match question {
            Question::Text(variant) => Answer::Text(Ok(variant.to_string())),
            Question::Spilled(_) => Answer::Spilled(Err(NoAnswer::Refused("no".into()))),
            Question::Compared(_) => Answer::Compared(Some(Agreement::Same.into())),
            Question::Figures(variant) => {
                let figures = judge(name, &variant.to_string());
                Answer::Figures(figures.ok_or_else(|| NoAnswer::Refused("no".into())))
            }
        };
        loop {
            let questions = search.ask(id);
            if questions.is_empty() {
                break;
            }
            search.tell(id, questions.iter().map(answer).collect());
        }
        if let Some(variant) = search.ask_comparison(id) {
            let executed = Executed { instructions: [1000, 940], local: [30, 0], machine: None };
            search.tell_comparison(id, variant, Compared { executed: Some(executed), ..Agreement::Same.into() });
        }
    }
    search
}

/// Runs a search of two kernels. The first wins by an order with rematerialised values, and would win less by the order
/// alone. The second wins by register names.
fn small() -> Search {
    search(&["attention", HOSTILE], 22, |name, choice| match (name, choice) {
        ("attention", "order=late") => Some(figures(0, 16, 400)),
        ("attention", "order=bottom-up") => None,
        ("attention", "order=eager") => Some(figures(60, 32, 490)),
        ("attention", "order=eager;remat=peaks") => Some(figures(20, 32, 480)),
        (HOSTILE, "rename-all") => Some(figures(96, 40, 500)),
        _ => Some(figures(100, 32, 500)),
    })
}

fn tuned(search: &Search) -> Tuned<'_> {
    let outcome = |kernel| {
        let (variant, figures) = Kernel::best(kernel, &search.objective);
        Outcome { kernel, variant, figures }
    };
    let kernels = search.kernels.iter().map(outcome).collect();
    Tuned {
        input: "in/<page>.ptx",
        objective: &search.objective,
        stock: "as given",
        runs: 9,
        early_stop: None,
        kernels,
    }
}

/// The page of two kernels equals the reference page, which was checked in a browser.
#[test]
fn the_page_of_a_small_search() {
    golden::expect("tune_page.html", &page(&tuned(&small())));
}

/// No text of the input becomes markup, and a page loads nothing.
#[test]
fn names_are_escaped_and_nothing_is_loaded() {
    let page = page(&tuned(&small()));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;") && page.contains("&lt;page&gt;.ptx"));
    assert_loads_nothing(&page);
}

/// The gain of an axis is the number of bytes that the best variant without it spills in addition. If another axis
/// gains as much, no kernel needs the axis.
#[test]
fn shares_of_axes() {
    let search = small();
    let tuned = tuned(&search);
    let of = |axis, words: &[&str]| {
        let variants = search.kernels.iter().flat_map(|kernel| &kernel.tried).map(|tried| tried.variant.to_string());
        let tried = variants.filter(|choice| words.iter().any(|word| choice.contains(word))).count();
        let share = share(&tuned, axis);
        assert_eq!(share.tried, tried, "{axis:?}");
        (share.winners, share.needed, share.bytes)
    };
    assert_eq!(of(Axis::Order, &["order"]), (1, 1, 80));
    assert_eq!(of(Axis::Remat, &["remat", "bit-spill"]), (1, 1, 40));
    assert_eq!(of(Axis::Names, &["rename", "no-join"]), (1, 1, 4));
    assert_eq!(of(Axis::Limit, &["maxnreg"]), (0, 0, 0));
    assert_eq!(share(&tuned, Axis::Kept), Share { tried: 0, winners: 0, needed: 0, bytes: 0 });
}

/// A benchmark has a column of its own. The page of an interrupted search states the interruption.
#[test]
fn what_is_not_always_there() {
    let plain = page(&tuned(&small()));
    assert!(!plain.contains("benchmark") && !plain.contains("the search was interrupted"));
    let timing = |median| Some(Timing { median, spread: 0.5 });
    let search = search(&["a", "b"], 4, |_, choice| match choice {
        "stock" => Some(Figures { timing: timing(12.5), ..figures(100, 32, 500) }),
        _ => Some(Figures { timing: timing(10.25), ..figures(90, 32, 500) }),
    });
    let timed = page(&Tuned { early_stop: Some(EarlyStop::Interruption), ..tuned(&search) });
    assert!(timed.contains("12.5 → 10.25") && timed.contains("the search was interrupted"), "{timed}");
}

/// With many kernels, only the details of the kernel with the largest gain are open. Long searches have short lists.
#[test]
fn a_page_of_many_kernels() {
    let names: Vec<String> = (0..20).map(|number| format!("k{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let spills = |choice: &str| choice.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte)) % 500;
    let search = search(&names, 400, |name, choice| match (name, choice) {
        (_, "stock") => Some(figures(500, 32, 500)),
        ("k7", _) => Some(figures(0, 32, 400)),
        _ => Some(figures(1 + spills(choice), 32, 500)),
    });
    let page = page(&tuned(&search));
    assert_eq!((page.matches("<details").count(), page.matches("<details open").count()), (20, 1));
    assert!(page[page.find("<details open").expect("one is open")..].contains("id=\"k7\""));
    assert!(page.len() < 20 * 20_000, "{}", page.len());
}
