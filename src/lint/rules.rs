//! The rules. Each rule reports a finding in a kernel: the cost, its reason, and the remedy.

use super::input::{Callee, HOLDERS, LintInput};
use super::remedy::{self, Language};
use super::source::UNROLLED;
use super::{Finding, Lint, Place, Readable};
use crate::forecast::PromotionObstacle;
use crate::loops::Fault;
use crate::target::machine::{Architecture, Ignored, MAX_THREADS_PER_BLOCK, RegisterShortage, WARP_SIZE};

/// A kernel that takes at most this many registers more than the next occupancy step allows is close to that step.
/// Registers are allocated to a thread in multiples of this number.
const CLOSE: u32 = 8;

/// Returns the findings of the rules in a kernel.
pub fn findings(input: &LintInput<'_>, readable: Readable) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(no_launch_bounds(input));
    found.extend(ignored_bounds(input));
    found.extend(spills(input));
    found.extend(needless_spills(input));
    found.extend(occupancy_step(input));
    found.extend(local_array(input));
    found.extend(unrolled_too_far(input));
    found.extend(abi_calls(input, readable));
    found.extend(ignored_setmaxnreg(input));
    found.extend(register_budget(input));
    found.extend(wrong_loops(input));
    found
}

fn finding(lint: Lint, input: &LintInput<'_>, place: &Place, reason: String, remedy: impl Into<String>) -> Finding {
    Finding { lint, kernel: input.name.to_owned(), place: place.clone(), reason, remedy: remedy.into() }
}

/// Returns "takes" for a measurement, "is expected to take" for a forecast.
fn verb(input: &LintInput<'_>, measured: &'static str, forecast: &'static str) -> &'static str {
    if input.is_measured { measured } else { forecast }
}

/// Reports a kernel without launch bounds that takes more registers than the largest block may have. ptxas does not
/// know the size of its blocks.
fn no_launch_bounds(input: &LintInput<'_>) -> Option<Finding> {
    let registers = input.launch.registers;
    let most = input.architecture.max_registers_for_block(MAX_THREADS_PER_BLOCK)?;
    if input.has_bounds || registers <= most {
        return None;
    }
    let threads = largest_block(input.architecture, registers)?;
    let takes = verb(input, "takes", "is expected to take");
    let reason = format!(
        "it {takes} {registers} registers without launch bounds: ptxas does not know the size of its blocks, and \
         blocks of more than {threads} threads cannot be launched"
    );
    let remedy = remedy::bounds(Language::of(&input.begin));
    Some(finding(Lint::NoLaunchBounds, input, &input.begin, reason, remedy))
}

/// Returns the most threads of a block, in whole warps, that may have this many registers.
fn largest_block(architecture: &Architecture, registers: u32) -> Option<u32> {
    let sizes = (1..=MAX_THREADS_PER_BLOCK / WARP_SIZE).rev().map(|warps| warps * WARP_SIZE);
    sizes
        .into_iter()
        .find(|&threads| architecture.max_registers_for_block(threads).is_some_and(|most| most >= registers))
}

fn ignored_bounds(input: &LintInput<'_>) -> Vec<Finding> {
    let found = |ignored: &Ignored| {
        let reason = format!("ptxas ignores its bounds: {ignored}");
        let remedy = "declare bounds that fit a multiprocessor, together with the size of the blocks";
        finding(Lint::IgnoredBounds, input, &input.begin, reason, remedy)
    };
    input.ignored.iter().map(found).collect()
}

/// Reports a kernel that spills.
fn spills(input: &LintInput<'_>) -> Option<Finding> {
    if input.spill_bytes == 0 {
        return None;
    }
    let spills = verb(input, "spills", "is expected to spill");
    let lines: Vec<String> =
        input.spill_lines.iter().take(HOLDERS).map(|(place, bytes)| format!("line {} ({bytes})", place.line)).collect();
    let lines = if lines.is_empty() { String::new() } else { format!(", most often in {}", lines.join(", ")) };
    let reason = format!("it {spills} {} bytes{lines}", input.spill_bytes);
    let more = input.limit.map_or(String::new(), |limit| format!(", or allow more than {limit} registers"));
    let remedy = format!("keep fewer values live at once{more}; nvptx-ra tune searches for code that spills less");
    Some(finding(Lint::Spills, input, &input.spills, reason, remedy))
}

/// Reports a kernel that spills at its register limit, if a higher limit would not reduce the number of resident warps.
fn needless_spills(input: &LintInput<'_>) -> Option<Finding> {
    let limit = input.limit.filter(|_| input.spill_bytes > 0)?;
    let at_limit = input.launch.with_registers(limit);
    let edge = input.architecture.step_edge(&at_limit);
    if edge <= limit {
        return None;
    }
    let warps = input.architecture.occupancy(&at_limit).warps;
    let spills = verb(input, "spills", "is expected to spill");
    let reason = format!(
        "it {spills} {} bytes because its register limit is {limit}; an SM also holds {warps} warps with up to {edge} \
         registers",
        input.spill_bytes
    );
    let remedy = remedy::more_registers(Language::of(&input.begin), edge);
    Some(finding(Lint::NeedlessSpills, input, &input.spills, reason, remedy))
}

/// Reports a kernel in which a few registers reduce occupancy. A kernel that spills is not reported, because it lacks
/// more than a few registers.
fn occupancy_step(input: &LintInput<'_>) -> Option<Finding> {
    let registers = input.launch.registers;
    let step = input.architecture.next_step(&input.launch)?;
    if registers - step > CLOSE || input.spill_bytes > 0 {
        return None;
    }
    let warps = |registers| input.architecture.occupancy(&input.launch.with_registers(registers)).warps;
    let takes = verb(input, "takes", "is expected to take");
    let reason = format!(
        "it {takes} {registers} registers, so that an SM holds {} warps; with at most {step} registers it holds {}",
        warps(registers),
        warps(step)
    );
    let holders: Vec<String> =
        input.holders.iter().map(|holder| format!("line {} ({})", holder.place.line, holder.held)).collect();
    let limit = remedy::limit(Language::of(&input.begin), &step.to_string());
    let remedy = match holders.is_empty() {
        true => format!("free {} registers where most are live, or try {limit}", registers - step),
        false => format!(
            "free {} registers where most are live: most belong to {}; or try {limit}",
            registers - step,
            holders.join(", ")
        ),
    };
    Some(finding(Lint::OccupancyStep, input, &input.peak, reason, remedy))
}

/// Reports variables that stay in local memory.
fn local_array(input: &LintInput<'_>) -> Option<Finding> {
    if input.stack_bytes == 0 {
        return None;
    }
    if let Some(cause) = input.in_memory {
        let line = if cause.line == 0 { cause.declared } else { cause.line };
        let place = Place { file: input.begin.file.clone(), line };
        let reason = format!("{} bytes of stack: {cause}", input.stack_bytes);
        let lint =
            if matches!(cause.why, PromotionObstacle::PassedOn(_)) { Lint::NotInlined } else { Lint::LocalArray };
        return Some(finding(lint, input, &place, reason, remedy::local(Language::of(&place), cause)));
    }
    let place = input.computed.as_ref()?;
    let reason = format!(
        "{} bytes of stack: local memory is accessed at an address that is computed at run time",
        input.stack_bytes
    );
    let remedy = remedy::computed(Language::of(place));
    Some(finding(Lint::LocalArray, input, place, reason, remedy))
}

/// Reports a line of an unrolled loop if the kernel spills where many copies of the line's values are live.
fn unrolled_too_far(input: &LintInput<'_>) -> Option<Finding> {
    let holder = input.holders.iter().find(|holder| holder.times >= UNROLLED && holder.held >= UNROLLED)?;
    if input.spill_bytes == 0 {
        return None;
    }
    let spills = verb(input, "spills", "is expected to spill");
    let (why, remedy) = remedy::unrolled(Language::of(&holder.place));
    let reason = format!(
        "it {spills} {} bytes, and where most registers are live, {} of them belong to this line: the line occurs {} \
         times in one block, because {why}",
        input.spill_bytes, holder.held, holder.times
    );
    Some(finding(Lint::UnrolledTooFar, input, &holder.place, reason, remedy))
}

/// Reports calls for which ptxas follows the calling convention, once for each callee.
fn abi_calls(input: &LintInput<'_>, readable: Readable) -> Vec<Finding> {
    let mut called: Vec<&Callee> = Vec::new();
    let mut found = Vec::new();
    for (callee, place) in &input.calls {
        if called.contains(&callee) {
            continue;
        }
        called.push(callee);
        let times = match input.calls.iter().filter(|(other, _)| other == callee).count() {
            1 => String::new(),
            times => format!(" {times} times"),
        };
        let what = match callee {
            Callee::Pointer => "a function through a pointer".to_owned(),
            Callee::Function(name) | Callee::System(name) => readable(name),
            Callee::Elsewhere(name) => format!("{}, which is not in this file,", readable(name)),
            Callee::Recursive(name) => format!("{}, which calls itself,", readable(name)),
        };
        let remedy = remedy::call(Language::of(place), callee);
        let reason = format!(
            "it calls {what}{times} by the calling convention: arguments move to fixed registers, and values that are \
             live across the call occupy callee-saved registers"
        );
        found.push(finding(Lint::AbiCall, input, place, reason, remedy));
    }
    found
}

fn ignored_setmaxnreg(input: &LintInput<'_>) -> Option<Finding> {
    let reason = "setmaxnreg has no effect: the bounds do not determine the number of registers at entry".to_owned();
    let remedy = remedy::known_at_entry(Language::of(&input.begin));
    input.ignores_repartition.then(|| finding(Lint::IgnoredSetmaxnreg, input, &input.begin, reason, remedy))
}

/// Reports a register increase that waits for ever because the other warpgroups of the block never release enough
/// registers.
fn register_budget(input: &LintInput<'_>) -> Option<Finding> {
    let (RegisterShortage { increase, others, needed, pool, most, .. }, place) = input.register_shortage.as_ref()?;
    let reason = format!(
        "setmaxnreg.inc {increase} waits for ever: the block needs {needed} registers even if each thread of the \
         other warpgroups has no more than {others}, and has {pool} at entry"
    );
    let entry = "start the kernel with more registers: fewer blocks in __launch_bounds__, or a higher __maxnreg__";
    Some(finding(Lint::RegisterBudget, input, place, reason, format!("request {most} at most, or {entry}")))
}

/// Reports loops that ptxas unrolls wrongly for some numbers, once for each line.
fn wrong_loops(input: &LintInput<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (place, fault, is_likely) in &input.wrong_loops {
        let numbers = match fault {
            Fault::Signed => {
                "if its start and its bound differ by at least half of the number range, or its counter overflows"
            }
            Fault::Equality => "if its counter passes the largest signed number shortly before its bound",
            Fault::Unsigned => "if its counter wraps before its bound",
            Fault::Rounded => "if its counter is rounded in each iteration",
        };
        let reason = format!(
            "ptxas unrolls this loop and leaves the unrolled loop three steps before the bound: the trip count is \
             wrong {numbers}"
        );
        let lint = if *is_likely { Lint::WrongLoop } else { Lint::ExtremeLoop };
        let remedy = remedy::wrong_loop(Language::of(place), *fault == Fault::Rounded);
        let finding = finding(lint, input, place, reason, remedy);
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::input::RegisterHolder;
    use super::*;
    use crate::forecast::UnpromotedVariable;
    use crate::target::machine::Launch;

    /// Returns a kernel without findings.
    fn clean() -> LintInput<'static> {
        LintInput {
            name: "k",
            architecture: Architecture::by_name("sm_90").expect("it is known"),
            begin: Place { file: "k.cu".into(), line: 1 },
            is_measured: true,
            launch: Launch::new(32).with_threads(256),
            has_bounds: true,
            limit: None,
            spill_bytes: 0,
            spills: Place { file: "k.cu".into(), line: 2 },
            peak: Place { file: "k.cu".into(), line: 3 },
            holders: vec![RegisterHolder { place: Place { file: "k.cu".into(), line: 4 }, held: 9, times: 1 }],
            spill_lines: Vec::new(),
            stack_bytes: 0,
            in_memory: None,
            computed: None,
            calls: Vec::new(),
            ignored: &[],
            wrong_loops: Vec::new(),
            ignores_repartition: false,
            register_shortage: None,
        }
    }

    fn found(input: &LintInput<'_>) -> Vec<(Lint, u32)> {
        findings(input, str::to_owned).into_iter().map(|finding| (finding.lint, finding.place.line)).collect()
    }

    #[test]
    fn nothing_is_found_in_a_clean_kernel() {
        assert_eq!(found(&clean()), []);
    }

    /// Missing bounds are reported only for a kernel that takes more registers than the largest block may have.
    #[test]
    fn launch_bounds() {
        let free = |registers| LintInput { has_bounds: false, launch: Launch::new(registers), ..clean() };
        assert!(found(&free(65)).contains(&(Lint::NoLaunchBounds, 1)));
        assert!(!found(&free(64)).iter().any(|(lint, _)| *lint == Lint::NoLaunchBounds));
        assert!(
            !found(&LintInput { has_bounds: true, ..free(65) }).iter().any(|(lint, _)| *lint == Lint::NoLaunchBounds)
        );
        assert_eq!(largest_block(clean().architecture, 84), Some(640));
        let ignored = [Ignored::BlocksOfAnySize(4)];
        assert_eq!(found(&LintInput { ignored: &ignored, ..clean() }), [(Lint::IgnoredBounds, 1)]);
    }

    /// Spills are reported at the line with the most expensive spills, with the lines that move the most bytes.
    #[test]
    fn lines_of_spills() {
        let line = |line, bytes| (Place { file: "k.cu".into(), line }, bytes);
        let spill_lines = vec![line(9, 8), line(7, 16), line(5, 4), line(3, 4)];
        let spilling = LintInput { spill_bytes: 32, spill_lines, limit: Some(40), ..clean() };
        assert_eq!(found(&spilling), [(Lint::Spills, 2)]);
        let [finding] = &findings(&spilling, str::to_owned)[..] else { panic!("one finding") };
        assert_eq!(finding.reason, "it spills 32 bytes, most often in line 9 (8), line 7 (16), line 5 (4)");
        assert!(finding.remedy.starts_with("keep fewer values live at once, or allow more than 40 registers;"));
        assert_eq!(found(&LintInput { spill_bytes: 0, ..spilling }), []);
    }

    /// A limit is needless if an SM holds as many warps with more registers: 33 to 40 registers are one step for blocks
    /// of 256 threads.
    #[test]
    fn spills_for_nothing() {
        let spilling = |limit| {
            let launch = Launch::new(limit).with_threads(256);
            LintInput { limit: Some(limit), spill_bytes: 8, launch, ..clean() }
        };
        assert!(found(&spilling(36)).contains(&(Lint::NeedlessSpills, 2)));
        assert!(!found(&spilling(40)).iter().any(|(lint, _)| *lint == Lint::NeedlessSpills));
        let dry = LintInput { spill_bytes: 0, ..spilling(36) };
        assert!(!found(&dry).iter().any(|(lint, _)| *lint == Lint::NeedlessSpills));
    }

    /// A kernel that takes at most eight registers more than a step allows is close to that step.
    #[test]
    fn close_to_a_step() {
        let with = |registers| LintInput { launch: Launch::new(registers).with_threads(256), ..clean() };
        assert_eq!(found(&with(40)), [(Lint::OccupancyStep, 3)]);
        assert_eq!(found(&with(33)), [(Lint::OccupancyStep, 3)]);
        assert!(
            findings(&with(33), str::to_owned)[0]
                .remedy
                .contains("free 1 registers where most are live: most belong to line 4 (9)")
        );
        assert_eq!(found(&with(255)), []);
        assert_eq!(found(&LintInput { spill_bytes: 8, ..with(40) }), [(Lint::Spills, 2)]);
    }

    /// If the code is available, the finding has the reason for which a variable stays in memory. Otherwise, it has the
    /// line of a computed address.
    #[test]
    fn local_memory() {
        let why = PromotionObstacle::Indexed(4);
        let cause =
            UnpromotedVariable { variables: 1, variable: Some("a".into()), declared: 7, line: 8, why, index: None };
        let array = LintInput { stack_bytes: 64, in_memory: Some(&cause), ..clean() };
        assert_eq!(found(&array), [(Lint::LocalArray, 8)]);
        assert_eq!(found(&LintInput { stack_bytes: 0, ..array }), []);
        let computed = Some(Place { file: "k.cu".into(), line: 9 });
        assert_eq!(found(&LintInput { stack_bytes: 64, computed, ..clean() }), [(Lint::LocalArray, 9)]);
        assert_eq!(found(&LintInput { stack_bytes: 64, ..clean() }), []);
    }

    /// If the address of a variable is passed to a function, the lint for functions that are not inlined reports it.
    #[test]
    fn passed_on() {
        let why = PromotionObstacle::PassedOn(Some("f".into()));
        let cause =
            UnpromotedVariable { variables: 1, variable: Some("a".into()), declared: 7, line: 8, why, index: None };
        let input = LintInput { stack_bytes: 64, in_memory: Some(&cause), ..clean() };
        assert_eq!(found(&input), [(Lint::NotInlined, 8)]);
        assert!(findings(&input, str::to_owned)[0].remedy.starts_with("inline it: __forceinline__"));
    }

    /// A line is reported if it occurs many times in a block, its values occupy many registers, and the kernel spills.
    #[test]
    fn unrolled() {
        let with = |held, times, spill_bytes| {
            let place = Place { file: "k.cu".into(), line: 4 };
            LintInput { holders: vec![RegisterHolder { place, held, times }], spill_bytes, ..clean() }
        };
        assert_eq!(found(&with(16, 16, 8)), [(Lint::Spills, 2), (Lint::UnrolledTooFar, 4)]);
        for (held, times, spill_bytes) in [(15, 16, 8), (16, 15, 8), (16, 16, 0)] {
            let found = found(&with(held, times, spill_bytes));
            let is_unrolled = found.iter().any(|(lint, _)| *lint == Lint::UnrolledTooFar);
            assert!(!is_unrolled, "{held} {times} {spill_bytes}");
        }
    }

    /// A callee is reported once, however often it is called. Each kind of callee has its own remedy.
    #[test]
    fn calls() {
        let place = |line| Place { file: "k.cu".into(), line };
        let f = || Callee::named("f");
        let calls = vec![(f(), place(5)), (f(), place(6)), (Callee::Pointer, place(7))];
        assert_eq!(found(&LintInput { calls, ..clean() }), [(Lint::AbiCall, 5), (Lint::AbiCall, 7)]);
        let kinds = [
            f(),
            Callee::named("vprintf"),
            Callee::Elsewhere("f".into()),
            Callee::Recursive("f".into()),
            Callee::Pointer,
        ];
        let calls = kinds.map(|callee| (callee, place(5))).to_vec();
        let remedies: BTreeSet<String> = findings(&LintInput { calls, ..clean() }, str::to_owned)
            .into_iter()
            .map(|finding| finding.remedy)
            .collect();
        assert_eq!(remedies.len(), 5);
    }

    /// `setmaxnreg` that ptxas ignores is reported at the kernel's first line.
    #[test]
    fn setmaxnreg() {
        assert_eq!(found(&LintInput { ignores_repartition: true, ..clean() }), [(Lint::IgnoredSetmaxnreg, 1)]);
    }

    /// An increase that waits for ever is reported at its line.
    #[test]
    fn register_budgets() {
        let shortage =
            RegisterShortage { increase: 240, request: 1, others: 24, needed: 33_792, pool: 32_768, most: 232 };
        let place = Place { line: 40, ..clean().begin };
        let input = LintInput { register_shortage: Some((shortage, place)), ..clean() };
        assert_eq!(found(&input), [(Lint::RegisterBudget, 40)]);
    }

    /// A loop that is likely to be wrong is reported. An unlikely one is reported by a lint of its own.
    #[test]
    fn loops() {
        let place = |line| Place { file: "k.cu".into(), line };
        let wrong_loops =
            vec![(place(5), Fault::Rounded, true), (place(5), Fault::Rounded, true), (place(6), Fault::Signed, false)];
        let input = LintInput { wrong_loops, ..clean() };
        assert_eq!(found(&input), [(Lint::WrongLoop, 5), (Lint::ExtremeLoop, 6)]);
        assert!(findings(&input, str::to_owned)[1].remedy.contains("#pragma unroll 1"));
    }
}
