//! Tests the page of a small module, and properties of every page.

use std::sync::Arc;

use nvptx_ra::forecast::{Case, Forecast, forecast};
use nvptx_ra::function::Function;
use nvptx_ra::target::Classification;
use nvptx_ra::target::machine::Architecture;

use super::{Report, page};
use crate::golden;
use crate::page::{assert_loads_nothing, grouped};
use crate::report::Code;

/// If this name were not escaped, it would be a script, an entity and the end of an attribute.
const HOSTILE: &str = "<script>alert(1)</script>&\"'";

/// Makes a kernel of this name with a loop.
fn kernel(name: &str, file: &str) -> Function {
    let text = format!(
        "mfv 1\nfunction {name:?}\nkernel maxntid 512\nfile {file:?}\n\
         opcode ADD32rr\nopcode CBranch\nopcode INT_PTX_SREG_TID_x\nopcode LD_i32\nopcode Return\nopcode ST_i32\n\
         opcode MULT32rr\nregs %0 B32 \"start\" B32 \"total\" B32 B1 {HOSTILE:?}\n\
         bb0: frequency 1.0 depth 0 -> bb1\n%0 = INT_PTX_SREG_TID_x :: line 3\n%1 = LD_i32 %0 :: line 4\n\
         %3 = LD_i32 %0 :: line 5\n\
         bb1: frequency 32.0 depth 1 -> bb1 bb2\n%2 = MULT32rr %0, %1 :: line 6\n%1 = ADD32rr %2, %1 :: line 6\n\
         CBranch %3, bb1 :: ordered terminator line 5\n\
         bb2: frequency 1.0 depth 0\nST_i32 %1, %0 :: write line 7\nReturn :: ordered terminator line 8\nend\n",
    );
    Function::parse(&text).expect("a view")
}

/// Returns the page of functions, with fixed figures instead of the models'.
fn page_of(functions: &[Function]) -> String {
    let architecture = Architecture::by_name("sm_90").expect("is known");
    let by_name = |function: &Function| Classification::by_name(function.opcodes());
    let classifications = functions.iter().map(by_name).map(Arc::new).collect();
    let code = Code { functions: functions.to_vec(), classifications };
    let case = Case { architecture, max_registers: None };
    let mut forecasts = forecast(code.iter(), &case).expect("the models are there");
    for (forecast, registers) in forecasts.iter_mut().zip([50, 20].into_iter().cycle()) {
        fix(forecast, architecture, registers);
    }
    let report = Report {
        path: "in/<page>.bc".into(),
        input: "in/<page>.bc".into(),
        source: None,
        cpu: "sm_90".into(),
        architecture,
        code,
        forecasts,
        slots: std::collections::BTreeMap::new(),
        calls_outside: false,
        measured: None,
        refusal: None,
    };
    page(&report)
}

/// Replaces the model's figures, so that a newly fitted model does not change the golden file.
fn fix(forecast: &mut Forecast, architecture: &Architecture, registers: u32) {
    forecast.registers = registers;
    forecast.likely_registers = (registers - 2, registers + 5);
    (forecast.spill_store_bytes, forecast.spill_load_bytes) = (0, 8);
    forecast.likely_spill_bytes = (4, 24);
    forecast.launch_with(0, architecture);
}

/// The page of two kernels, one with its source, is the page that was reviewed in a browser.
#[test]
fn the_page_of_a_small_module() {
    let page = page_of(&[kernel("sum", "tests/golden/page.cu"), kernel(HOSTILE, "/nowhere/at/all.cu")]);
    golden::expect("page.html", &page);
}

/// No text of the input becomes markup, whether it is the name of a kernel, a variable or a file. Every tag is the
/// page's own.
#[test]
fn names_are_escaped() {
    let page = page_of(&[kernel(HOSTILE, HOSTILE), kernel("</style><style>", "x")]);
    assert!(!page.contains("<script") && page.matches("<style").count() == 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;"));
    assert!(page.contains("&lt;page&gt;.bc"));
}

/// A page loads nothing, and its content security policy forbids loading.
#[test]
fn a_page_is_one_file() {
    assert_loads_nothing(&page_of(&[kernel("k", "k.cu")]));
}

/// The same module gives the same bytes, and the kernel with most registers is expanded.
#[test]
fn a_page_of_many_kernels() {
    let functions: Vec<Function> = (0..100).map(|number| kernel(&format!("k{number}"), "k.cu")).collect();
    let page = page_of(&functions);
    assert_eq!(page, page_of(&functions));
    assert_eq!(page.matches("<details").count(), 100);
    assert_eq!(page.matches("<details open").count(), 1);
}

/// A kernel's part of the page is bounded for any length of the kernel.
#[test]
fn a_long_kernel_has_a_short_page() {
    let mut text =
        String::from("mfv 1\nfunction \"long\"\nkernel\nopcode LD_i32\nopcode ST_i32\nopcode Return\nregs %0");
    text += &" B32".repeat(2_000);
    text += "\nbb0: frequency 1.0 depth 0\n";
    (0..2_000).for_each(|reg| text += &format!("%{reg} = LD_i32 1 :: read line {}\n", reg + 1));
    (0..2_000).for_each(|reg| text += &format!("ST_i32 %{reg}, 1 :: write line 1\n"));
    text += "Return :: ordered terminator\nend\n";
    let function = Function::parse(&text).expect("a view");
    let page = page_of(&[function]);
    assert!(page.len() < 60_000, "{}", page.len());
}

#[test]
fn thousands_are_apart() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
}
