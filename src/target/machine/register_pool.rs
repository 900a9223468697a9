//! The pool of registers that the warps of a block share where a kernel has `setmaxnreg`.
//!
//! A block has as many registers as its threads have when the kernel is entered, and no more later: `setmaxnreg.dec` gives
//! registers of a warp to the pool of the block, and `setmaxnreg.inc` waits until the pool has enough. Which warpgroup executes
//! which request is seldom known ahead of the run, so both rules here hold for every assignment.

use super::repartition::allowed;
use super::{Architecture, CommandLine, MAX_REGISTERS, REGISTER_GRANULARITY, RegisterLimit, Repartition, WARP_SIZE};
use crate::function::LaunchBounds;

/// The threads of a warpgroup, which executes a request together.
const WARPGROUP: u32 = 4 * WARP_SIZE;

/// Registers come to a thread in multiples of so many.
const STEP: u32 = REGISTER_GRANULARITY / WARP_SIZE;

/// An increase that waits for ever: the other warpgroups of the block keep too many registers, whatever they execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterShortage {
    /// What the increase asks for.
    pub increase: u32,
    /// Which of the requests it is.
    pub request: usize,
    /// The fewest registers that a thread of another warpgroup keeps.
    pub others: u32,
    /// The fewest registers of the whole block once the increase is met.
    pub needed: u32,
    /// The registers with which the block is entered.
    pub pool: u32,
    /// The most registers that the increase could get.
    pub most: u32,
}

/// With how many registers a thread enters a kernel, where ptxas does what its requests ask; `None` where ptxas ignores them.
fn entry(limit: &RegisterLimit, requests: &[Repartition]) -> Option<u32> {
    let increases = requests.iter().filter(|request| matches!(request, Repartition::Increase(_))).map(allowed);
    limit.is_known_at_entry().then(|| increases.fold(limit.registers, u32::min))
}

/// What a kernel asks of its registers while it runs, and its bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterRequests {
    /// All requests of the kernel and of the functions that it may call.
    pub requests: Vec<Repartition>,
    /// The bounds, which say how many registers the kernel is entered with.
    pub bounds: LaunchBounds,
}

impl RegisterRequests {
    /// Whether a kernel that runs to its end with these requests and bounds does so with others, too. That is certain in three
    /// cases: ptxas ignores the other requests, the kernel is entered with no fewer registers than before, or no request asks
    /// for more registers than the kernel is entered with. In the third case no thread ever has more than that, and no decrease
    /// rises. O(requests).
    pub fn may_become(&self, other: &Self, architecture: &Architecture) -> bool {
        let Some(entered) = other.entry(architecture) else { return true };
        let is_no_fewer = self.entry(architecture).is_some_and(|own| entered >= own);
        is_no_fewer || other.requests.iter().map(allowed).all(|count| count <= entered)
    }

    /// The same for a limit on registers, `.maxnreg`, in the place of the kernel's own.
    pub fn may_be_limited_to(&self, registers: u32, architecture: &Architecture) -> bool {
        let bounds = LaunchBounds { max_registers: Some(registers), ..self.bounds };
        self.may_become(&Self { bounds, ..self.clone() }, architecture)
    }

    /// Whether ptxas ignores the requests only because nothing says how many blocks an SM is to hold, so that `.minnctapersm 1`
    /// makes it follow them, and no block lacks registers for certain then. Whether an increase waits for ever all the same is for
    /// a run to tell. O(requests).
    pub fn want_blocks(&self, architecture: &Architecture) -> bool {
        let says_nothing = self.bounds.min_blocks.is_none() && self.bounds.max_registers.is_none();
        let bounds = LaunchBounds { min_blocks: Some(1), ..self.bounds };
        let told = Self { bounds, ..self.clone() };
        let threads = self.bounds.required_threads.or(self.bounds.max_threads);
        let lacks = |threads: u32| {
            let limit = architecture.register_limit(&bounds, &CommandLine::default()).ok();
            limit.and_then(|limit| architecture.register_shortage(threads, &limit, &self.requests)).is_some()
        };
        says_nothing
            && self.entry(architecture).is_none()
            && told.entry(architecture).is_some()
            && threads.is_some_and(|threads| !lacks(threads))
    }

    /// With how many registers a thread enters the kernel. `None` where there is no request, or ptxas ignores them.
    fn entry(&self, architecture: &Architecture) -> Option<u32> {
        let limit = architecture.register_limit(&self.bounds, &CommandLine::default()).ok()?;
        entry(&limit, &self.requests).filter(|_| !self.requests.is_empty())
    }
}

impl Architecture {
    /// The increase that waits for ever in blocks of so many threads, where there is one: of several the largest, and then the
    /// first. Nothing is said of blocks that are no whole warpgroups. O(requests).
    pub fn register_shortage(
        &self,
        threads: u32,
        limit: &RegisterLimit,
        requests: &[Repartition],
    ) -> Option<RegisterShortage> {
        let entered = entry(limit, requests)?.next_multiple_of(STEP);
        if threads == 0
            || !threads.is_multiple_of(WARPGROUP)
            || self.max_registers_for_block(threads)? < entered.min(MAX_REGISTERS)
        {
            return None;
        }
        let increases = requests.iter().enumerate().filter(|(_, one)| matches!(one, Repartition::Increase(_)));
        let (request, increase) = increases
            .map(|(number, one)| (number, allowed(one).next_multiple_of(STEP)))
            .max_by_key(|&(number, count)| (count, std::cmp::Reverse(number)))?;
        let decreases = requests.iter().filter(|request| matches!(request, Repartition::Decrease(_)));
        let others = decreases.map(|one| allowed(one).next_multiple_of(STEP)).fold(entered, u32::min);
        let beside = others * (threads - WARPGROUP);
        let (needed, pool) = (increase * WARPGROUP + beside, entered * threads);
        let most = (pool - beside) / WARPGROUP / STEP * STEP;
        (needed > pool).then_some(RegisterShortage { increase, request, others, needed, pool, most })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Repartition::{Decrease, Increase};
    use super::*;

    fn hopper() -> &'static Architecture {
        Architecture::by_name("sm_90a").expect("is known")
    }

    fn bounds(max_threads: Option<u32>, min_blocks: Option<u32>, max_registers: Option<u32>) -> LaunchBounds {
        LaunchBounds { max_threads, min_blocks, max_registers, ..LaunchBounds::default() }
    }

    fn limit(bounds: &LaunchBounds) -> RegisterLimit {
        hopper().register_limit(bounds, &CommandLine::default()).expect("the bounds agree")
    }

    /// All that a block may do with its registers: each of its warpgroups executes a list of requests, in some order of all.
    /// Whether every order comes to its end, so that no increase waits for ever and no decrease rises.
    fn comes_to_its_end(entered: u32, warpgroups: &[&[Repartition]]) -> bool {
        fn from(held: &mut [u32], done: &mut [usize], free: u32, warpgroups: &[&[Repartition]]) -> bool {
            let (mut moves, mut is_over) = (0, true);
            for group in 0..held.len() {
                let Some(request) = warpgroups[group].get(done[group]) else { continue };
                is_over = false;
                let (count, before) = (allowed(request), held[group]);
                match request {
                    Decrease(_) if count > before => return false,
                    Increase(_) if count < before || count - before > free => continue,
                    _ => {}
                }
                (held[group], done[group], moves) = (count, done[group] + 1, moves + 1);
                let ends = from(held, done, free + before - count, warpgroups);
                (held[group], done[group]) = (before, done[group] - 1);
                if !ends {
                    return false;
                }
            }
            is_over || moves > 0
        }
        from(&mut vec![entered; warpgroups.len()], &mut vec![0; warpgroups.len()], 0, warpgroups)
    }

    /// Every list of up to two requests of these.
    fn lists(requests: &[Repartition]) -> Vec<Vec<Repartition>> {
        let one = requests.iter().map(|&first| vec![first]);
        let two = requests.iter().flat_map(|&first| requests.iter().map(move |&second| vec![first, second]));
        std::iter::once(Vec::new()).chain(one).chain(two).collect()
    }

    /// A kernel that comes to its end with its own limit does so with each limit that it may have, and one that lacks registers
    /// never does: in all ways in which three warpgroups may execute up to two requests each.
    #[test]
    fn holds_for_every_assignment() {
        let counts = [24, 40, 104, 160, 232];
        let (mut allowed_limits, mut short) = (0, 0);
        for (decrease, increase) in counts.into_iter().flat_map(|low| counts.map(|high| (low, high))) {
            let requests = [Decrease(decrease), Increase(increase)];
            for (own, other) in [40, 104, 168].into_iter().flat_map(|own| [40, 104, 168, 232].map(|other| (own, other)))
            {
                let [own, other] = [own, other].map(Some);
                let kernel =
                    |registers| RegisterRequests { requests: requests.into(), bounds: bounds(None, None, registers) };
                let is_allowed = kernel(own).may_be_limited_to(other.unwrap_or(0), hopper());
                assert_eq!(is_allowed, kernel(own).may_become(&kernel(other), hopper()));
                let entered = |registers| kernel(registers).entry(hopper()).expect("the limit says it");
                let lacks = hopper().register_shortage(384, &limit(&kernel(own).bounds), &requests).is_some();
                let lists = lists(&requests);
                for first in &lists {
                    for second in &lists {
                        for third in &lists {
                            let block: [&[Repartition]; 3] = [first, second, third];
                            let ends = comes_to_its_end(entered(own), &block);
                            if is_allowed && ends {
                                assert!(comes_to_its_end(entered(other), &block), "{own:?} {other:?} {block:?}");
                            }
                            let increases = block.iter().any(|list| list.contains(&requests[1]));
                            assert!(!(lacks && ends && increases), "{own:?} {block:?}");
                        }
                    }
                }
                allowed_limits += u32::from(is_allowed);
                short += u32::from(lacks);
            }
        }
        assert!(allowed_limits > 100 && short > 20, "{allowed_limits} limits, {short} that lack registers");
    }

    /// Fewer registers at entry than before are refused where a warpgroup asks for more, and so is a limit that makes ptxas
    /// follow requests that it ignored; limits that change nothing are not.
    #[test]
    fn limits() {
        let may_get = |threads, min_blocks, requests: &[Repartition], registers| {
            let kernel =
                RegisterRequests { requests: requests.into(), bounds: bounds(Some(threads), min_blocks, None) };
            kernel.may_be_limited_to(registers, hopper())
        };
        let requests = [Decrease(40), Increase(232)];
        let of_block = [80, 224, 232, 240].map(|registers| may_get(256, Some(1), &requests, registers));
        assert_eq!(of_block, [false, false, true, true]);
        assert!(!may_get(384, None, &requests, 80), "ptxas ignores the requests without a limit");
        assert!(may_get(256, Some(1), &[Decrease(40)], 40) && !may_get(256, Some(1), &[Decrease(48)], 40));
        assert!(may_get(256, Some(1), &[], 24));
        let [none, some] = [vec![], requests.to_vec()]
            .map(|requests| RegisterRequests { requests, bounds: bounds(Some(256), Some(2), None) });
        assert!(!none.may_become(&some, hopper()) && some.may_become(&none, hopper()));
    }

    /// `.minnctapersm 1` is for a kernel that says how many threads a block has and nothing else, and whose block has the registers
    /// that are asked for.
    #[test]
    fn kernels_that_want_blocks() {
        let requests = [Decrease(40), Increase(232)];
        let wants = |requests: &[Repartition], bounds| {
            RegisterRequests { requests: requests.into(), bounds }.want_blocks(hopper())
        };
        assert!(wants(&requests, bounds(Some(384), None, None)));
        for (threads, min_blocks, registers) in
            [(None, None, None), (Some(384), Some(1), None), (Some(384), None, Some(168))]
        {
            assert!(!wants(&requests, bounds(threads, min_blocks, registers)), "{threads:?}");
        }
        assert!(!wants(&[], bounds(Some(384), None, None)), "nothing is asked");
        assert!(
            !wants(&[Increase(240)], bounds(Some(384), None, None)),
            "504 registers of three threads, and 240 and 336 are more"
        );
    }

    /// Two warpgroups that are entered with 128 registers a thread have 256, and 24 and 240 are 264.
    #[test]
    fn shortages() {
        let found = |threads, limit: &RegisterLimit, requests: &[Repartition]| {
            hopper()
                .register_shortage(threads, limit, requests)
                .map(|one| (one.request, one.needed, one.pool, one.most))
        };
        let two = limit(&bounds(Some(256), Some(2), None));
        assert_eq!(found(256, &two, &[Decrease(24), Increase(240)]), Some((1, 33_792, 32_768, 232)));
        assert_eq!(found(256, &two, &[Decrease(24), Increase(232)]), None);
        assert_eq!(found(256, &two, &[Increase(136)]), Some((0, 33_792, 32_768, 128)));
        assert_eq!(found(256, &two, &[Decrease(24)]), None);
        assert_eq!(found(192, &two, &[Increase(136)]), None);
        let ignored = limit(&bounds(Some(256), None, None));
        assert_eq!(found(256, &ignored, &[Increase(240), Decrease(240)]), None);
        let three = limit(&bounds(Some(384), Some(1), None));
        assert_eq!(found(384, &three, &[Decrease(40), Increase(240), Increase(232)]), None);
    }
}
