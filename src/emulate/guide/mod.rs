//! Additional launches after the drawn ones, for statements that have not run and branches that went one way only.
//!
//! [`launch_coverage`]: coverage of all launches; [`mod@sites`]: positions where coverage can grow; [`flow`]: definitions of
//! registers; [`solve`]: inputs that flip a predicate.
//!
//! A launch that reached such a branch is repeated with one change: a parameter, a loaded value, or the shape.
//! [`Guide::next`] returns the change; the caller runs the launch and keeps it if it covers something new. This is a
//! search as in a fuzzer, with few runs.

mod flow;
mod launch_coverage;
mod sites;
mod solve;

use rustc_hash::FxHashMap;

pub(super) use self::launch_coverage::LaunchCoverage;

use self::flow::{Flow, Known};
use self::sites::{Aim, Site, sites};
use self::solve::{Leaf, Solver};
use super::machine::{Outcome, Setting};
use super::memory::Image;
use super::program::{Program, Special};
use super::types::mixed;
use super::wishes::{Wish, Wishes};

/// The most attempts for one branch: with solved values, and with drawn numbers.
const MOST_SOLVED: usize = 8;
const MOST_SHAKEN: usize = 6;

/// Values drawn for numbers on which a predicate depends, and for unknown parameters.
pub(super) const SHAKEN: [u64; 22] =
    [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096];

/// A launch that ran, as the base of the next one.
pub(super) struct FinishedLaunch<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) setting: &'a Setting,
    pub(super) image: &'a mut Image,
}

/// The attempts so far.
#[derive(Debug, Default)]
pub(super) struct Guide {
    flows: FxHashMap<usize, Flow>,
    tries: FxHashMap<(usize, u32, u8), usize>,
}

impl Guide {
    /// Returns the next launch: the index of the launch on which it is based, and the values that replace drawn ones.
    /// `None` if nothing is left to try.
    pub(super) fn next(
        &mut self,
        program: &Program,
        coverage: &LaunchCoverage,
        runs: &mut [FinishedLaunch<'_>],
    ) -> Option<(usize, Wishes)> {
        let mut sites = sites(program, coverage);
        let tries = |guide: &Self, site: &Site| guide.tries.get(&site.key()).copied().unwrap_or(0);
        sites.retain(|site| tries(self, site) < MOST_SOLVED + MOST_SHAKEN);
        sites.sort_by_key(|site| {
            (site.rank, tries(self, site), std::cmp::Reverse(site.behind), site.function, site.inst)
        });
        for site in sites {
            let at = site.inst as usize;
            let reaches = |run: &FinishedLaunch<'_>| {
                run.outcome.covered[site.function][at] || run.outcome.ways[site.function][at] != 0
            };
            let parents: Vec<usize> = (0..runs.len()).filter(|&run| reaches(&runs[run])).collect();
            let Some(&parent) = parents.first() else { continue };
            let number = tries(self, &site);
            let leaves = self.leaves(program, &site, &mut runs[parent]);
            let solved = options(site.function, &leaves, runs[parent].setting);
            let (number, parent, wishes) = match solved.into_iter().take(MOST_SOLVED).nth(number) {
                Some(wishes) => (number, parent, Some(wishes)),
                None => {
                    let number = number.max(MOST_SOLVED);
                    let parent = parents[number % parents.len()];
                    (number, parent, shaken(&site, &leaves, runs[parent].setting, number))
                }
            };
            self.tries.insert(site.key(), wishes.as_ref().map_or(usize::MAX, |_| number + 1));
            if let Some(wishes) = wishes {
                return Some((parent, wishes));
            }
        }
        None
    }

    /// Returns the inputs of a predicate, with the values that flip it.
    fn leaves(&mut self, program: &Program, site: &Site, run: &mut FinishedLaunch<'_>) -> Vec<(Leaf, Vec<u64>)> {
        let function = &program.functions[site.function];
        let flow = self.flows.entry(site.function).or_insert_with(|| Flow::new(function));
        let known = Known { function, flow, setting: run.setting, image: run.image, work: 0 };
        let solver = Solver::new(known);
        match site.aim {
            Aim::Predicate(row, wanted) => solver.leaves(site.inst as usize, row, wanted),
            Aim::Relation(bits) => solver.sides(site.inst as usize, bits),
        }
    }
}

/// Returns the launches that may flip a predicate.
fn options(function: usize, leaves: &[(Leaf, Vec<u64>)], setting: &Setting) -> Vec<Wishes> {
    let mut options = Vec::new();
    // First the first value of each leaf, then the second value of each leaf. For a load, first all values together,
    // then each value alone.
    let count = |(leaf, values): &(Leaf, Vec<u64>)| match leaf {
        Leaf::Load(..) if !values.is_empty() => values.len() + 1,
        _ => values.len(),
    };
    let longest = leaves.iter().map(count).max().unwrap_or(0);
    for number in 0..longest {
        for (leaf, values) in leaves.iter().filter(|leaf| number < count(leaf)) {
            let values = match leaf {
                Leaf::Load(..) if number == 0 => values.as_slice(),
                Leaf::Load(..) => &values[number - 1..number],
                _ => &values[number..=number],
            };
            let mut wishes = setting.wishes.clone();
            if add(&mut wishes, setting, function, *leaf, values, number > 0) && !options.contains(&wishes) {
                options.push(wishes);
            }
        }
    }
    if leaves.len() > 1 {
        let mut wishes = setting.wishes.clone();
        for (leaf, values) in leaves.iter().filter(|(_, values)| !values.is_empty()) {
            add(&mut wishes, setting, function, *leaf, &values[..1], true);
        }
        options.insert(1.min(options.len()), wishes);
    }
    options
}

/// Draws numbers for all inputs of a predicate if the values that flip it are unknown.
fn shaken(site: &Site, leaves: &[(Leaf, Vec<u64>)], setting: &Setting, number: usize) -> Option<Wishes> {
    let mut wishes = setting.wishes.clone();
    for (place, (leaf, _)) in leaves.iter().enumerate().filter(|(_, (leaf, _))| !matches!(leaf, Leaf::Shape(_))) {
        let key = (site.inst as u64) << 32 | (number as u64) << 16 | place as u64;
        let value = SHAKEN[mixed(key) as usize % SHAKEN.len()];
        add(&mut wishes, setting, site.function, *leaf, &[value], number.is_multiple_of(2));
    }
    (wishes != setting.wishes).then_some(wishes)
}

/// Adds a wish and returns whether it changes anything.
fn add(wishes: &mut Wishes, setting: &Setting, function: usize, leaf: Leaf, values: &[u64], is_sure: bool) -> bool {
    let Some(&value) = values.first() else { return false };
    let mut shape = |is_grid: bool, axis: u8, size: u64| {
        let (most, old) = if is_grid { (64, setting.grid) } else { (1024, setting.block) };
        let mut new = old;
        new[usize::from(axis)] = size.clamp(1, most) as u32;
        let is_allowed = (1..=most).contains(&size) && u64::from(new.iter().product::<u32>()) <= most;
        if new != old && is_allowed {
            *(if is_grid { &mut wishes.grid } else { &mut wishes.block }) = Some(new);
        }
        new != old && is_allowed
    };
    let larger = |old: u32| u64::from(old).max(value.saturating_add(1));
    match leaf {
        Leaf::Parameter(offset, bytes) => wishes.add_parameter(offset, bytes, value),
        Leaf::Load(inst, element) => {
            wishes.add_load(Wish { load: (function, inst, element), values: values.to_vec(), is_sure });
        }
        Leaf::Shape(Special::Ctaid(axis)) => return shape(true, axis, larger(setting.grid[usize::from(axis)])),
        Leaf::Shape(Special::Nctaid(axis)) => return shape(true, axis, value),
        Leaf::Shape(Special::Tid(axis)) => return shape(false, axis, larger(setting.block[usize::from(axis)])),
        Leaf::Shape(Special::Ntid(axis)) => return shape(false, axis, value),
        Leaf::Shape(_) => return false,
    }
    true
}
