//! Small functions with obvious best orders.

use super::{BY_READERS_ABOVE, Input, LiveWords, ReorderedPressure, Reordering};
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::live::Live;
use crate::forecast::live::pressure::WordPressures;
use crate::forecast::live::word_ranges::WordRanges;
use crate::function::Function;
use crate::fuzzing::{Options, explore, lowered_function, reached as explored};

/// Returns the highest pressures in the order of the code and in the scheduler's order. An opcode's role follows a
/// colon.
fn pressures(opcodes: &str, regs: usize, body: &str) -> (u32, ReorderedPressure) {
    let opcodes: String = opcodes.split(' ').map(|name| format!("opcode {}\n", name.replace(':', " "))).collect();
    let regs = vec!["B32"; regs].join(" ");
    let text = format!("mfv 1\nfunction \"f\"\n{opcodes}regs %0 {regs}\n{body}\nend\n");
    let function = Function::parse(&text).expect("a view");
    function.validate().expect("a valid one");
    let footprint = RegisterFootprint::by_name(&function);
    let word_ranges = WordRanges::new(&footprint.words, &footprint.ranges);
    let mut pressures = WordPressures::default();
    pressures.compute((&function, &footprint.words, &word_ranges), std::iter::empty(), |_| false);
    let input = Input { function: &function, footprint: &footprint, word_ranges: &word_ranges, pressures: &pressures };
    (pressures.all.most(), Reordering::default().reach(&input))
}

/// Values that are computed long before their use are delayed: three live values become two.
#[test]
fn definitions_are_put_off() {
    let body = "bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n%1 = ADD32ri %0, 1\n%2 = ADD32ri %0, 2\n\
                %3 = ADD32ri %0, 3\nST_i32 %1 :: write\nST_i32 %2 :: write\nST_i32 %3 :: write";
    let (in_order, reordered) = pressures("ADD32ri INT_PTX_SREG_TID_x ST_i32", 4, body);
    assert_eq!((in_order, reordered.all), (3, 2));
}

/// Sums are computed as soon as both operands are available.
#[test]
fn what_frees_registers_is_brought_forward() {
    let body = "bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\n%2 = INT_PTX_SREG_TID_z\n\
                %3 = INT_PTX_SREG_TID_w\n%4 = ADD32rr %0, %1\n%5 = ADD32rr %4, %2\n%6 = ADD32rr %5, %3\n\
                ST_i32 %6 :: write";
    let opcodes = "ADD32rr INT_PTX_SREG_TID_w INT_PTX_SREG_TID_x INT_PTX_SREG_TID_y INT_PTX_SREG_TID_z ST_i32";
    let (in_order, reordered) = pressures(opcodes, 7, body);
    assert_eq!((in_order, reordered.all), (4, 2));
}

/// Products far after their operands are computed directly after them, because a product takes fewer registers than its
/// operands.
#[test]
fn sunk_products_are_brought_back() {
    let column = |first: u32| {
        let [a, b, sum, difference] = [first, first + 1, first + 2, first + 3];
        format!(
            "%{a} = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read global\n\
             %{b} = LD_i32 0, 0, 1, 3, 32, -1, %0, 4 :: read global\n%{sum} = ADD32rr %{a}, %{b}\n\
             %{difference} = SUB32rr %{a}, %{b}\nST_i32 %0 :: write global\n"
        )
    };
    let columns = [column(1), column(5), column(9)].concat();
    let products = "%13 = MULT32rr %3, %4\n%14 = MULT32rr %7, %8\n%15 = MULT32rr %11, %12";
    let stores = "ST_i32 %13 :: write global\nST_i32 %14 :: write global\nST_i32 %15 :: write global";
    let code = |debug: &str| {
        let body = format!("bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n{columns}{products}\n{debug}{stores}");
        pressures("ADD32rr DBG_VALUE:debug INT_PTX_SREG_TID_x LD_i32 MULT32rr ST_i32 SUB32rr", 16, &body)
    };
    let (in_order, reordered) = code("");
    assert_eq!((in_order, reordered.all), (8, 5));
    // Debug values read nothing: the products remain the only readers of their operands.
    assert_eq!(code("DBG_VALUE %3, $noreg :: meta\nDBG_VALUE %8, $noreg :: meta\n"), (in_order, reordered));
}

/// A register that is written again is dead between its last read and that write, so values can still be delayed.
#[test]
fn registers_that_are_written_again() {
    let store = |reg: u32| format!("ST_i32 %{reg} :: write\n");
    let add = |reg: u32| format!("%{reg} = ADD32ri %0, {reg}\n");
    let first: String = (1..4).map(|reg| add(reg) + &store(reg)).collect();
    let again: String = (1..4).map(add).chain((1..4).map(store)).collect();
    let body = format!("bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n{first}{again}");
    let (in_order, reordered) = pressures("ADD32ri INT_PTX_SREG_TID_x ST_i32", 4, &body);
    assert_eq!((in_order, reordered.all), (3, 2));
}

/// Loads far before shared readers, all of which end in the same sums, move to their readers.
#[test]
fn loads_go_to_their_readers() {
    let columns = BY_READERS_ABOVE + 16;
    // %0 is an address, %1 and %2 are the sums. Each column has a value, a product and a difference.
    let reg = |column: u32, which: u32| 3 + 3 * column + which;
    let load = |column| {
        let address = 4 * column;
        format!("%{} = LD_i32 0, 0, 1, 3, 32, -1, %0, {address} :: read global\n", reg(column, 0))
    };
    let use_it = |column| {
        let [value, product, difference] = [0, 1, 2].map(|which| reg(column, which));
        format!(
            "%{product} = MULT32rr %{value}, %0\n%{difference} = SUB32rr %{value}, %0\n\
             %1 = MAD_LO_S32rrr %{product}, %{difference}, %1\n%2 = MAD_LO_S32rrr %{difference}, %{product}, %2\n"
        )
    };
    let code: String = (0..columns).map(load).chain((0..columns).map(use_it)).collect();
    let body = format!(
        "bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\n%2 = INT_PTX_SREG_TID_z\n{code}\
         ST_i32 %1 :: write\nST_i32 %2 :: write"
    );
    let opcodes =
        "INT_PTX_SREG_TID_x INT_PTX_SREG_TID_y INT_PTX_SREG_TID_z LD_i32 MAD_LO_S32rrr MULT32rr ST_i32 SUB32rr";
    let (in_order, reordered) = pressures(opcodes, reg(columns, 0) as usize, &body);
    assert_eq!((in_order, reordered.all), (columns + 4, 5));
}

/// Loads stay before later stores to the same memory, so they cannot be delayed past these stores.
#[test]
fn stores_hold_loads() {
    let body = "bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n%1 = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read global\n\
                %2 = LD_i32 0, 0, 1, 3, 32, -1, %0, 4 :: read global\nST_i32 %0 :: write global\n\
                ST_i32 %1 :: write global\nST_i32 %2 :: write global";
    let (_, reordered) = pressures("INT_PTX_SREG_TID_x LD_i32 ST_i32", 3, body);
    assert_eq!(reordered.all, 3);
}

/// A word that enters a loop is live in all of it, wherever it is read.
#[test]
fn live_round_a_loop() {
    let body = "bb0: frequency 1.0 depth 0 -> bb1\n%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\n\
                bb1: frequency 8.0 depth 1 -> bb1 bb2\nST_i32 %0 :: write\nST_i32 %1 :: write\n%2 = ADD32rr %0, %1\n\
                ST_i32 %2 :: write\nCBranch %0, bb1 :: terminator\nbb2: frequency 1.0 depth 0";
    let (_, reordered) = pressures("ADD32rr CBranch INT_PTX_SREG_TID_x INT_PTX_SREG_TID_y ST_i32", 3, body);
    assert_eq!((reordered.all, reordered.varying_in_loops), (3, 3));
}

/// The result of an early-clobber instruction is not live at the start of the region.
#[test]
fn early_clobbers_start_where_they_are_written() {
    let body = "bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\nST_i32 %0 :: write\n\
                INT_PTX_SREG_TID_y def early_clobber %1\nST_i32 %1 :: write";
    let (in_order, reordered) = pressures("INT_PTX_SREG_TID_x INT_PTX_SREG_TID_y ST_i32", 2, body);
    assert_eq!((in_order, reordered.all), (1, 1));
}

/// In the first instruction of a block, an early-clobber result counts as live at the start, even after debug values.
#[test]
fn early_clobbers_behind_debug_values() {
    let reordered = |debug: &str| {
        let body = format!(
            "@0 = \"\"\nbb0: frequency 1.0 depth 0 -> bb1\nbb1: frequency 9.0 depth 1 -> bb1 bb2\n{debug}\
             INLINEASM @0, 1, def early_clobber %1, %2 :: opaque\n%3 = MAD_LO_S32rrr %1, %0, %4\n\
             ST_i32 %1, %5 :: write\nbb2: frequency 1.0 depth 0"
        );
        pressures("DBG_VALUE:debug INLINEASM MAD_LO_S32rrr ST_i32", 6, &body).1
    };
    assert_eq!(reordered("DBG_VALUE %4, $noreg :: meta\n"), reordered(""));
}

/// Returns the pressures if each region is scheduled to its end.
fn reach_all(input: &Input<'_>) -> ReorderedPressure {
    let mut reordering = Reordering::default();
    reordering.regions.compute(input.function, &input.footprint.loops);
    reordering.regions.find_words(input);
    reordering.states.resize(input.footprint.words.len(), super::WordState::default());
    let mut reordered = ReorderedPressure::default();
    for number in reordering.regions.all().ids() {
        let region = reordering.regions.all()[number];
        let most = LiveWords { all: u32::MAX, varying: u32::MAX };
        let live = reordering.reach_in(input, number, region.in_order(input.pressures), most);
        reordered.raise(live, region.is_loop);
    }
    reordered
}

/// Regions that are not scheduled, or not to their end, would not raise the maximum.
#[test]
fn what_is_left_out_does_not_matter() {
    let check = |u: &mut arbitrary::Unstructured<'_>| {
        let function = lowered_function(u, &Options::default())?;
        let footprint = RegisterFootprint::by_name(&function);
        let mut live = Live::default();
        live.compute(&function, &footprint);
        let Live { word_ranges, pressures, .. } = &live;
        let input = Input { function: &function, footprint: &footprint, word_ranges, pressures };
        let all = reach_all(&input);
        explored("in loops", all.varying_in_loops > 0);
        explored("better than the code", all.all < input.pressures.all.most());
        assert_eq!(Reordering::default().reach(&input), all, "{function}");
        Ok(())
    };
    explore(check, 2_000, &[("in loops", 15), ("better than the code", 10)]);
}
