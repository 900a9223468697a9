//! The rules: what is found in a kernel, why it costs something, and what to change.

use super::remedy::{self, Language};
use super::source::UNROLLED;
use super::subject::{Callee, HOLDERS, Subject};
use super::{Finding, Lint, Place, Readable};
use crate::forecast::Why;
use crate::loops::Fault;
use crate::target::machine::{Architecture, Ignored, MAX_THREADS_PER_BLOCK, RegisterShortage, WARP_SIZE};

/// A kernel that takes no more registers than this beyond the next step of occupancy is close to it: registers come to
/// a thread in multiples of so many.
const CLOSE: u32 = 8;

/// What the rules find in a kernel.
pub fn findings(subject: &Subject<'_>, readable: Readable) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(no_launch_bounds(subject));
    found.extend(ignored_bounds(subject));
    found.extend(spills(subject));
    found.extend(needless_spills(subject));
    found.extend(occupancy_step(subject));
    found.extend(local_array(subject));
    found.extend(unrolled_too_far(subject));
    found.extend(abi_calls(subject, readable));
    found.extend(ignored_setmaxnreg(subject));
    found.extend(register_budget(subject));
    found.extend(wrong_loops(subject));
    found
}

fn finding(lint: Lint, subject: &Subject<'_>, place: &Place, reason: String, remedy: impl Into<String>) -> Finding {
    Finding { lint, kernel: subject.name.to_owned(), place: place.clone(), reason, remedy: remedy.into() }
}

/// "takes" of what is measured, "is expected to take" of what is forecast.
fn verb(subject: &Subject<'_>, measured: &'static str, forecast: &'static str) -> &'static str {
    if subject.is_measured { measured } else { forecast }
}

/// Blocks of the largest size get fewer registers than the kernel takes, and ptxas is not told that there are none.
fn no_launch_bounds(subject: &Subject<'_>) -> Option<Finding> {
    let registers = subject.launch.registers;
    let most = subject.architecture.max_registers_for_block(MAX_THREADS_PER_BLOCK)?;
    if subject.has_bounds || registers <= most {
        return None;
    }
    let threads = largest_block(subject.architecture, registers)?;
    let takes = verb(subject, "takes", "is expected to take");
    let reason = format!(
        "it {takes} {registers} registers without launch bounds: ptxas does not know the size of its blocks, and one of \
         more than {threads} threads cannot be launched"
    );
    let remedy = remedy::bounds(Language::of(&subject.begin));
    Some(finding(Lint::NoLaunchBounds, subject, &subject.begin, reason, remedy))
}

/// The most threads of a block, in whole warps, that may have so many registers.
fn largest_block(architecture: &Architecture, registers: u32) -> Option<u32> {
    let sizes = (1..=MAX_THREADS_PER_BLOCK / WARP_SIZE).rev().map(|warps| warps * WARP_SIZE);
    sizes
        .into_iter()
        .find(|&threads| architecture.max_registers_for_block(threads).is_some_and(|most| most >= registers))
}

fn ignored_bounds(subject: &Subject<'_>) -> Vec<Finding> {
    let found = |ignored: &Ignored| {
        let reason = format!("ptxas does not do what its bounds say: {ignored}");
        let remedy = "say bounds that a multiprocessor can hold, and the size of the blocks with them";
        finding(Lint::IgnoredBounds, subject, &subject.begin, reason, remedy)
    };
    subject.ignored.iter().map(found).collect()
}

/// The kernel spills.
fn spills(subject: &Subject<'_>) -> Option<Finding> {
    if subject.spill_bytes == 0 {
        return None;
    }
    let spills = verb(subject, "spills", "is expected to spill");
    let lines: Vec<String> = subject
        .spill_lines
        .iter()
        .take(HOLDERS)
        .map(|(place, bytes)| format!("line {} ({bytes})", place.line))
        .collect();
    let lines = if lines.is_empty() { String::new() } else { format!(", most often in {}", lines.join(", ")) };
    let reason = format!("it {spills} {} bytes{lines}", subject.spill_bytes);
    let more = subject.limit.map_or(String::new(), |limit| format!(", or allow it more than {limit} registers"));
    let remedy = format!("keep fewer values live at once{more}; nvptx-ra tune looks for code that spills less");
    Some(finding(Lint::Spills, subject, &subject.spills, reason, remedy))
}

/// The kernel spills at its limit, and with a higher one as many warps would be resident.
fn needless_spills(subject: &Subject<'_>) -> Option<Finding> {
    let limit = subject.limit.filter(|_| subject.spill_bytes > 0)?;
    let at_limit = subject.launch.with_registers(limit);
    let edge = subject.architecture.step_edge(&at_limit);
    if edge <= limit {
        return None;
    }
    let warps = subject.architecture.occupancy(&at_limit).warps;
    let spills = verb(subject, "spills", "is expected to spill");
    let reason = format!(
        "it {spills} {} bytes because it may have {limit} registers; with up to {edge} an SM holds {warps} warps as well",
        subject.spill_bytes
    );
    let remedy = remedy::more_registers(Language::of(&subject.begin), edge);
    Some(finding(Lint::NeedlessSpills, subject, &subject.spills, reason, remedy))
}

/// A few registers keep more warps away. A kernel that spills needs more than a few fewer.
fn occupancy_step(subject: &Subject<'_>) -> Option<Finding> {
    let registers = subject.launch.registers;
    let step = subject.architecture.next_step(&subject.launch)?;
    if registers - step > CLOSE || subject.spill_bytes > 0 {
        return None;
    }
    let warps = |registers| subject.architecture.occupancy(&subject.launch.with_registers(registers)).warps;
    let takes = verb(subject, "takes", "is expected to take");
    let reason = format!(
        "it {takes} {registers} registers, with which an SM holds {} warps; with at most {step} it holds {}",
        warps(registers),
        warps(step)
    );
    let holders: Vec<String> =
        subject.holders.iter().map(|holder| format!("line {} ({})", holder.place.line, holder.held)).collect();
    let limit = remedy::limit(Language::of(&subject.begin), &step.to_string());
    let remedy = match holders.is_empty() {
        true => format!("free {} registers where most are live, or try {limit}", registers - step),
        false => format!(
            "free {} registers where most are live: {} hold most; or try {limit}",
            registers - step,
            holders.join(", ")
        ),
    };
    Some(finding(Lint::OccupancyStep, subject, &subject.peak, reason, remedy))
}

/// Variables that stay in local memory.
fn local_array(subject: &Subject<'_>) -> Option<Finding> {
    if subject.stack_bytes == 0 {
        return None;
    }
    if let Some(cause) = subject.in_memory {
        let line = if cause.line == 0 { cause.declared } else { cause.line };
        let place = Place { file: subject.begin.file.clone(), line };
        let reason = format!("{} bytes of stack: {cause}", subject.stack_bytes);
        let lint = if matches!(cause.why, Why::PassedOn(_)) { Lint::NotInlined } else { Lint::LocalArray };
        return Some(finding(lint, subject, &place, reason, remedy::local(Language::of(&place), cause)));
    }
    let place = subject.computed.as_ref()?;
    let reason = format!(
        "{} bytes of stack: local memory is accessed at an address that is computed when the kernel runs",
        subject.stack_bytes
    );
    let remedy = remedy::computed(Language::of(place));
    Some(finding(Lint::LocalArray, subject, place, reason, remedy))
}

/// The kernel spills where a line's values are live many times over.
fn unrolled_too_far(subject: &Subject<'_>) -> Option<Finding> {
    let holder = subject.holders.iter().find(|holder| holder.times >= UNROLLED && holder.held >= UNROLLED)?;
    if subject.spill_bytes == 0 {
        return None;
    }
    let spills = verb(subject, "spills", "is expected to spill");
    let (why, remedy) = remedy::unrolled(Language::of(&holder.place));
    let reason = format!(
        "it {spills} {} bytes, and where most registers are live, this line holds {} of them: it stands {} times in one \
         block, because {why}",
        subject.spill_bytes, holder.held, holder.times
    );
    Some(finding(Lint::UnrolledTooFar, subject, &holder.place, reason, remedy))
}

/// Calls that follow the calling convention, each function once.
fn abi_calls(subject: &Subject<'_>, readable: Readable) -> Vec<Finding> {
    let mut called: Vec<&Callee> = Vec::new();
    let mut found = Vec::new();
    for (callee, place) in &subject.calls {
        if called.contains(&callee) {
            continue;
        }
        called.push(callee);
        let times = match subject.calls.iter().filter(|(other, _)| other == callee).count() {
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
            "it calls {what}{times} by the calling convention: arguments move to fixed registers, and what is live over \
             the call stays in those that the callee saves"
        );
        found.push(finding(Lint::AbiCall, subject, place, reason, remedy));
    }
    found
}

fn ignored_setmaxnreg(subject: &Subject<'_>) -> Option<Finding> {
    let reason = "setmaxnreg does nothing: its bounds do not say how many registers it is entered with".to_owned();
    let remedy = remedy::known_at_entry(Language::of(&subject.begin));
    subject.ignores_repartition.then(|| finding(Lint::IgnoredSetmaxnreg, subject, &subject.begin, reason, remedy))
}

/// An increase for which the other warpgroups of the block never give enough registers back.
fn register_budget(subject: &Subject<'_>) -> Option<Finding> {
    let (RegisterShortage { increase, others, needed, pool, most, .. }, place) = subject.register_shortage.as_ref()?;
    let reason = format!(
        "setmaxnreg.inc {increase} waits for ever: with no more than {others} registers in every thread of the other \
         warpgroups the block needs {needed} registers, and it is entered with {pool}"
    );
    let entry = "enter with more registers: fewer blocks in __launch_bounds__, or a higher __maxnreg__";
    Some(finding(Lint::RegisterBudget, subject, place, reason, format!("ask for {most} at most, or {entry}")))
}

/// Loops that ptxas unrolls wrongly for some numbers, each line once.
fn wrong_loops(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (place, fault, is_likely) in &subject.wrong_loops {
        let numbers = match fault {
            Fault::Signed => "where its start and its bound are half of all numbers apart, or its counter overflows",
            Fault::Equality => "where its counter passes the largest signed number shortly ahead of its bound",
            Fault::Unsigned => "where its counter wraps ahead of its bound",
            Fault::Rounded => "where its counter is rounded in each turn",
        };
        let reason = format!(
            "ptxas unrolls this loop, leaves the unrolled loop three steps ahead of the bound, and makes another number of turns {numbers}"
        );
        let lint = if *is_likely { Lint::WrongLoop } else { Lint::ExtremeLoop };
        let remedy = remedy::wrong_loop(Language::of(place), *fault == Fault::Rounded);
        let finding = finding(lint, subject, place, reason, remedy);
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::subject::Holder;
    use super::*;
    use crate::forecast::InMemory;
    use crate::target::machine::Launch;

    /// A kernel in which nothing is to be found.
    fn clean() -> Subject<'static> {
        Subject {
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
            holders: vec![Holder { place: Place { file: "k.cu".into(), line: 4 }, held: 9, times: 1 }],
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

    fn found(subject: &Subject<'_>) -> Vec<(Lint, u32)> {
        findings(subject, str::to_owned).into_iter().map(|finding| (finding.lint, finding.place.line)).collect()
    }

    #[test]
    fn nothing_is_found_in_a_clean_kernel() {
        assert_eq!(found(&clean()), []);
    }

    /// Bounds matter only to a kernel that takes more registers than the largest block may have.
    #[test]
    fn launch_bounds() {
        let free = |registers| Subject { has_bounds: false, launch: Launch::new(registers), ..clean() };
        assert!(found(&free(65)).contains(&(Lint::NoLaunchBounds, 1)));
        assert!(!found(&free(64)).iter().any(|(lint, _)| *lint == Lint::NoLaunchBounds));
        assert!(
            !found(&Subject { has_bounds: true, ..free(65) }).iter().any(|(lint, _)| *lint == Lint::NoLaunchBounds)
        );
        assert_eq!(largest_block(clean().architecture, 84), Some(640));
        let ignored = [Ignored::BlocksOfAnySize(4)];
        assert_eq!(found(&Subject { ignored: &ignored, ..clean() }), [(Lint::IgnoredBounds, 1)]);
    }

    /// Spills are found by the line that moves them, and the lines that move most are named.
    #[test]
    fn lines_of_spills() {
        let line = |line, bytes| (Place { file: "k.cu".into(), line }, bytes);
        let spill_lines = vec![line(9, 8), line(7, 16), line(5, 4), line(3, 4)];
        let spilling = Subject { spill_bytes: 32, spill_lines, limit: Some(40), ..clean() };
        assert_eq!(found(&spilling), [(Lint::Spills, 2)]);
        let [finding] = &findings(&spilling, str::to_owned)[..] else { panic!("one finding") };
        assert_eq!(finding.reason, "it spills 32 bytes, most often in line 9 (8), line 7 (16), line 5 (4)");
        assert!(finding.remedy.starts_with("keep fewer values live at once, or allow it more than 40 registers;"));
        assert_eq!(found(&Subject { spill_bytes: 0, ..spilling }), []);
    }

    /// A limit is needless where as many warps fit with more registers: 33 to 40 are one step for blocks of 256 threads.
    #[test]
    fn spills_for_nothing() {
        let spilling = |limit| {
            let launch = Launch::new(limit).with_threads(256);
            Subject { limit: Some(limit), spill_bytes: 8, launch, ..clean() }
        };
        assert!(found(&spilling(36)).contains(&(Lint::NeedlessSpills, 2)));
        assert!(!found(&spilling(40)).iter().any(|(lint, _)| *lint == Lint::NeedlessSpills));
        let dry = Subject { spill_bytes: 0, ..spilling(36) };
        assert!(!found(&dry).iter().any(|(lint, _)| *lint == Lint::NeedlessSpills));
    }

    /// One granule beyond a step is close to it, more is not.
    #[test]
    fn close_to_a_step() {
        let with = |registers| Subject { launch: Launch::new(registers).with_threads(256), ..clean() };
        assert_eq!(found(&with(40)), [(Lint::OccupancyStep, 3)]);
        assert_eq!(found(&with(33)), [(Lint::OccupancyStep, 3)]);
        assert!(
            findings(&with(33), str::to_owned)[0]
                .remedy
                .contains("free 1 registers where most are live: line 4 (9) hold most")
        );
        assert_eq!(found(&with(255)), []);
        assert_eq!(found(&Subject { spill_bytes: 8, ..with(40) }), [(Lint::Spills, 2)]);
    }

    /// What keeps a variable in memory is named where the code is there; else a computed address is.
    #[test]
    fn local_memory() {
        let why = Why::Indexed(4);
        let cause = InMemory { variables: 1, variable: Some("a".into()), declared: 7, line: 8, why, index: None };
        let array = Subject { stack_bytes: 64, in_memory: Some(&cause), ..clean() };
        assert_eq!(found(&array), [(Lint::LocalArray, 8)]);
        assert_eq!(found(&Subject { stack_bytes: 0, ..array }), []);
        let computed = Some(Place { file: "k.cu".into(), line: 9 });
        assert_eq!(found(&Subject { stack_bytes: 64, computed, ..clean() }), [(Lint::LocalArray, 9)]);
        assert_eq!(found(&Subject { stack_bytes: 64, ..clean() }), []);
    }

    /// A variable whose address a function gets is that function's matter.
    #[test]
    fn passed_on() {
        let why = Why::PassedOn(Some("f".into()));
        let cause = InMemory { variables: 1, variable: Some("a".into()), declared: 7, line: 8, why, index: None };
        let subject = Subject { stack_bytes: 64, in_memory: Some(&cause), ..clean() };
        assert_eq!(found(&subject), [(Lint::NotInlined, 8)]);
        assert!(findings(&subject, str::to_owned)[0].remedy.starts_with("inline it: __forceinline__"));
    }

    /// A line that holds many registers by standing in a block many times is named where the kernel spills.
    #[test]
    fn unrolled() {
        let with = |held, times, spill_bytes| {
            let place = Place { file: "k.cu".into(), line: 4 };
            Subject { holders: vec![Holder { place, held, times }], spill_bytes, ..clean() }
        };
        assert_eq!(found(&with(16, 16, 8)), [(Lint::Spills, 2), (Lint::UnrolledTooFar, 4)]);
        for (held, times, spill_bytes) in [(15, 16, 8), (16, 15, 8), (16, 16, 0)] {
            let found = found(&with(held, times, spill_bytes));
            let is_unrolled = found.iter().any(|(lint, _)| *lint == Lint::UnrolledTooFar);
            assert!(!is_unrolled, "{held} {times} {spill_bytes}");
        }
    }

    /// A function is named once, however often it is called, and each kind of callee has a remedy of its own.
    #[test]
    fn calls() {
        let place = |line| Place { file: "k.cu".into(), line };
        let f = || Callee::named("f");
        let calls = vec![(f(), place(5)), (f(), place(6)), (Callee::Pointer, place(7))];
        assert_eq!(found(&Subject { calls, ..clean() }), [(Lint::AbiCall, 5), (Lint::AbiCall, 7)]);
        let kinds = [
            f(),
            Callee::named("vprintf"),
            Callee::Elsewhere("f".into()),
            Callee::Recursive("f".into()),
            Callee::Pointer,
        ];
        let calls = kinds.map(|callee| (callee, place(5))).to_vec();
        let remedies: BTreeSet<String> =
            findings(&Subject { calls, ..clean() }, str::to_owned).into_iter().map(|finding| finding.remedy).collect();
        assert_eq!(remedies.len(), 5);
    }

    /// setmaxnreg that ptxas ignores is named where the kernel begins.
    #[test]
    fn setmaxnreg() {
        assert_eq!(found(&Subject { ignores_repartition: true, ..clean() }), [(Lint::IgnoredSetmaxnreg, 1)]);
    }

    /// An increase that waits for ever is named where it stands.
    #[test]
    fn register_budgets() {
        let shortage =
            RegisterShortage { increase: 240, request: 1, others: 24, needed: 33_792, pool: 32_768, most: 232 };
        let place = Place { line: 40, ..clean().begin };
        let subject = Subject { register_shortage: Some((shortage, place)), ..clean() };
        assert_eq!(found(&subject), [(Lint::RegisterBudget, 40)]);
    }

    /// A loop that is likely to come out wrong is told, and one that is not has a lint of its own.
    #[test]
    fn loops() {
        let place = |line| Place { file: "k.cu".into(), line };
        let wrong_loops =
            vec![(place(5), Fault::Rounded, true), (place(5), Fault::Rounded, true), (place(6), Fault::Signed, false)];
        let subject = Subject { wrong_loops, ..clean() };
        assert_eq!(found(&subject), [(Lint::WrongLoop, 5), (Lint::ExtremeLoop, 6)]);
        assert!(findings(&subject, str::to_owned)[1].remedy.contains("#pragma unroll 1"));
    }
}
