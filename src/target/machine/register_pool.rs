//! The pool of registers that the warps of a block share if the kernel has `setmaxnreg`.
//!
//! The registers of a block are fixed when the kernel is entered. `setmaxnreg.dec` returns registers of a warp to the
//! block's pool, and `setmaxnreg.inc` waits until the pool has enough registers. Which warpgroup executes which request
//! is rarely known before the run, so both rules here hold for every assignment.

use super::repartition::allowed;
use super::{Architecture, CommandLine, MAX_REGISTERS, REGISTER_GRANULARITY, RegisterLimit, Repartition, WARP_SIZE};
use crate::function::LaunchBounds;

/// The threads of a warpgroup, which executes a request together.
const WARPGROUP: u32 = 4 * WARP_SIZE;

/// The granularity of a thread's registers.
const STEP: u32 = REGISTER_GRANULARITY / WARP_SIZE;

/// An increase that waits forever: the other warpgroups of the block keep too many registers, whatever requests they
/// execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterShortage {
    /// The registers that the increase requests.
    pub increase: u32,
    /// The index of the request.
    pub request: usize,
    /// The fewest registers that a thread of another warpgroup keeps.
    pub others: u32,
    /// The fewest registers of the whole block once the increase is met.
    pub needed: u32,
    /// The registers of the block when the kernel is entered.
    pub pool: u32,
    /// The most registers with which the increase would not wait.
    pub most: u32,
}

/// Returns the registers of a thread when the kernel is entered. `None` if ptxas ignores the requests.
fn entry(limit: &RegisterLimit, requests: &[Repartition]) -> Option<u32> {
    let increases = requests.iter().filter(|request| matches!(request, Repartition::Increase(_))).map(allowed);
    limit.is_known_at_entry().then(|| increases.fold(limit.registers, u32::min))
}

/// The register requests of a kernel, and its launch bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterRequests {
    /// All requests of the kernel and of the functions that it may call.
    pub requests: Vec<Repartition>,
    /// The launch bounds, which determine the registers at kernel entry.
    pub bounds: LaunchBounds,
}

impl RegisterRequests {
    /// Whether a kernel that terminates with these requests and bounds also terminates with `other`. This is certain in
    /// three cases: ptxas ignores the other requests; the kernel has at least as many registers at entry as before; no
    /// request asks for more registers than the kernel has at entry. In the third case, no thread ever has more
    /// registers, and no decrease raises a count. O(requests).
    pub fn may_become(&self, other: &Self, architecture: &Architecture) -> bool {
        let Some(entered) = other.entry(architecture) else { return true };
        let is_no_fewer = self.entry(architecture).is_some_and(|own| entered >= own);
        is_no_fewer || other.requests.iter().map(allowed).all(|count| count <= entered)
    }

    /// Whether the kernel still terminates with another register limit, `.maxnreg`, in place of its own. See
    /// [`Self::may_become`].
    pub fn may_be_limited_to(&self, registers: u32, architecture: &Architecture) -> bool {
        let bounds = LaunchBounds { max_registers: Some(registers), ..self.bounds };
        self.may_become(&Self { bounds, ..self.clone() }, architecture)
    }

    /// Whether `.minnctapersm 1` makes ptxas follow the requests, which it ignores only because the number of resident
    /// blocks is not given. False if a block would then certainly lack registers. Only a run can show whether an
    /// increase still waits forever. O(requests).
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

    /// Returns the registers of a thread when the kernel is entered. `None` if there are no requests, or ptxas ignores
    /// them.
    fn entry(&self, architecture: &Architecture) -> Option<u32> {
        let limit = architecture.register_limit(&self.bounds, &CommandLine::default()).ok()?;
        entry(&limit, &self.requests).filter(|_| !self.requests.is_empty())
    }
}

impl Architecture {
    /// Returns the largest increase that waits forever in blocks of `threads` threads; the first, if several are equal.
    /// `None` if no increase waits forever, or if blocks do not consist of whole warpgroups. O(requests).
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

    /// Whether a block terminates in every order of its warpgroups' requests, so that no increase waits forever and no
    /// decrease raises a count. Each warpgroup executes a list of requests.
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

    /// Returns every list of up to two of these requests.
    fn lists(requests: &[Repartition]) -> Vec<Vec<Repartition>> {
        let one = requests.iter().map(|&first| vec![first]);
        let two = requests.iter().flat_map(|&first| requests.iter().map(move |&second| vec![first, second]));
        std::iter::once(Vec::new()).chain(one).chain(two).collect()
    }

    /// A kernel that terminates with its own limit also terminates with each limit that
    /// [`RegisterRequests::may_be_limited_to`] allows, and a kernel with a shortage never terminates: for all ways in
    /// which three warpgroups execute up to two requests each.
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

    /// Fewer registers at entry are refused if a warpgroup requests more, and so is a limit that makes ptxas follow
    /// requests that it ignored. Limits that change nothing are accepted.
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

    /// `.minnctapersm 1` is only for a kernel that gives the threads of a block and no other bound, and whose block has
    /// the requested registers.
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

    /// Two warpgroups that enter with 128 registers for each thread have 256 in sum; 24 and 240 need 264.
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
