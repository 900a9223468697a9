//! Order of warps, and of the threads in a warp.
//!
//! A drawn warp runs for a drawn number of steps. Among its threads, those with the deepest call and the earliest
//! instruction in the PTX file run first, so that diverged threads reconverge. From time to time other threads run, so
//! that no thread starves. Two other orders test whether results depend on the order. In most turns, the first of these
//! runs the first runnable warp, and the second runs the last runnable warp, with the threads at its latest
//! instruction.

use super::access::race;
use super::block::Block;
use super::frame::Frame;
use super::next::Next;
use super::pool::Pool;
use super::step::step;
use super::trace::WarpTrace;
use super::warp::Warp;
use super::world::{Outcome, Setting, Turns, World};
use super::{AbandonedLaunch, End, Halt, Ran, endless, halt};
use crate::emulate::memory::Image;
use crate::emulate::program::Program;

/// The most resident warps; at least one block is resident.
const RESIDENT: usize = 64;

/// Runs a launch.
///
/// # Errors
/// Returns the reason why the launch cannot be compared.
pub(in crate::emulate) fn run(
    program: &Program,
    setting: &Setting,
    image: &mut Image,
) -> Result<Outcome, AbandonedLaunch> {
    let mut world = World::new(program, setting, image);
    match run_world(&mut world) {
        Ok(()) => {
            world.outcome.written = world.global.written();
            world.outcome.apart = world.global.written_apart();
            let undefined = world.global.undefined().into_iter();
            world.outcome.undefined = undefined.map(|(word, origin)| (word, origin.text(&world.specials))).collect();
            world.outcome.race = world.global.first_race.map(|other| race("a write", other));
            Ok(world.outcome)
        }
        Err(halt) => Err(AbandonedLaunch { reason: halt.reason, end: halt.end, outcome: Box::new(world.outcome) }),
    }
}

fn run_world(world: &mut World<'_, '_>) -> Ran<()> {
    let all: u32 = world.setting.grid.iter().product();
    let chosen = world.setting.blocks.as_deref();
    let blocks = chosen.map_or(all, |chosen| chosen.len() as u32);
    // The index of the n-th block that runs.
    let number = |at: u32| chosen.map_or(at, |chosen| chosen[at as usize]);
    let per_block = world.setting.block.iter().product::<u32>().div_ceil(32);
    let mut next_block = 0;
    let mut warps: Vec<Option<Box<Warp>>> = Vec::new();
    let mut running: Vec<usize> = Vec::new();
    let mut stuck = 0;
    loop {
        while next_block < blocks && (running.is_empty() || running.len() + per_block as usize <= RESIDENT) {
            start_block(world, number(next_block), per_block, &mut warps, &mut running);
            next_block += 1;
        }
        if running.is_empty() {
            return Ok(());
        }
        let place = next_warp(world, &warps, &running);
        let index = running[place];
        let burst = 1 + world.random(96) as u32;
        let Some(mut warp) = warps[index].take() else { return halt("a warp is missing") };
        let before = world.outcome.steps;
        run_warp(world, &mut warp, burst)?;
        let is_over = warp.live == 0;
        let block = warp.block;
        warps[index] = Some(warp);
        if is_over {
            warps[index] = None;
            running.swap_remove(place);
            if world.blocks[block].live.iter().all(|&live| live == 0) {
                world.blocks[block].finish();
            }
        }
        let is_woken = !world.wakes.is_empty();
        wake(world, &mut warps);
        let is_still = |index: usize, changes: u64| {
            is_waiting(&warps[index]) || warps[index].as_ref().is_some_and(|warp| warp.cycle.repeats(changes))
        };
        if !is_over && is_still(index, world.changes) && !is_waiting(&warps[index]) {
            let all_are = running.iter().all(|&index| is_still(index, world.changes));
            // If a thread read a value that depends on the order of threads, a block that has not begun may write the
            // value for which threads wait.
            if all_are && next_block < blocks && world.outcome.depends_on_order {
                start_block(world, number(next_block), per_block, &mut warps, &mut running);
                next_block += 1;
            } else if all_are {
                let place = warps[index].as_ref().map_or_else(String::new, |warp| place_of(world, warp));
                let repeats = format!("it repeats an earlier state{place}");
                return endless(lack_of_registers(world, &warps, &running).unwrap_or(repeats));
            }
        }
        if world.outcome.steps == before && !is_over && !is_woken {
            stuck += 1;
            if stuck > 64 && running.iter().all(|&index| is_waiting(&warps[index])) {
                return endless(lack_of_registers(world, &warps, &running).unwrap_or_else(|| DEADLOCK.into()));
            }
        } else {
            stuck = 0;
        }
        give_up(world)?;
        if (world.setting.is_unwanted)() {
            return halt("it was interrupted");
        }
        if world.is_full() {
            return halt("it accesses too much memory");
        }
    }
}

/// The message if no thread can continue.
const DEADLOCK: &str = "all threads wait for each other";

/// Returns the reason why a thread waits for registers, if one does.
fn lack_of_registers(world: &World<'_, '_>, warps: &[Option<Box<Warp>>], running: &[usize]) -> Option<String> {
    let mut blocks = running.iter().filter_map(|&index| warps[index].as_ref()).map(|warp| warp.block);
    blocks.find_map(|block| world.blocks[block].pool.as_ref()?.reason())
}

/// Stops a launch that is too long, or without a new store for so long that its program counts as endless.
fn give_up(world: &World<'_, '_>) -> Ran<()> {
    let &Setting { most_steps, most_steps_in_all, most_quiet, .. } = world.setting;
    let steps = world.outcome.steps;
    if let Some(most) = most_quiet.filter(|&most| steps - world.last_store > most) {
        return endless(format!("it executes more than {most} warp instructions without a new store"));
    }
    let is_decided = most_quiet.is_none() || world.last_store > most_steps;
    if steps > most_steps && is_decided || steps > most_steps_in_all {
        let reason = format!("it executes more than {} warp instructions", most_steps.min(most_steps_in_all));
        return Err(Box::new(Halt { reason, end: End::Long }));
    }
    Ok(())
}

/// Describes the position of the first runnable thread of a warp, as the end of a sentence.
fn place_of(world: &World<'_, '_>, warp: &Warp) -> String {
    let lane = (warp.live & !warp.blocked).trailing_zeros() as usize % 32;
    let frame = warp.frames[warp.frame[lane] as usize].as_ref();
    frame.map_or_else(String::new, |frame| describe(world, frame, warp.pc[lane], ""))
}

/// The first or last warp runs, except once in this number of turns, in which a drawn warp runs.
const DRAWN_EACH: usize = 8;

/// Returns the next warp, as an index into `running`.
fn next_warp(world: &mut World<'_, '_>, warps: &[Option<Box<Warp>>], running: &[usize]) -> usize {
    let turns = world.setting.turns;
    if turns != Turns::Drawn && world.random(DRAWN_EACH) > 0 {
        let able = running.iter().enumerate().filter(|&(_, &index)| !is_waiting(&warps[index]));
        let able = able.map(|(place, &index)| (index, place));
        if let Some((_, place)) = if turns == Turns::LastToFirst { able.max() } else { able.min() } {
            return place;
        }
    }
    world.random(running.len())
}

fn is_waiting(warp: &Option<Box<Warp>>) -> bool {
    warp.as_ref().is_none_or(|warp| warp.live & !warp.blocked == 0)
}

fn start_block(
    world: &mut World<'_, '_>,
    number: u32,
    per_block: u32,
    warps: &mut Vec<Option<Box<Warp>>>,
    running: &mut Vec<usize>,
) {
    let entry = world.function(world.setting.kernel).kernel.as_ref().and_then(|kernel| kernel.registers_at_entry);
    let pool = entry.map(|entry| Pool::new(entry, per_block as usize));
    let block = Block { pool, ..Block::new(number, world.setting.grid) };
    world.blocks.push(block);
    world.changed();
    let block = world.blocks.len() - 1;
    for warp_number in 0..per_block {
        let index = warps.len();
        let warp = Warp::new(world, block, warp_number, index);
        if world.setting.traces {
            world.outcome.traces.push(WarpTrace { block: number, number: warp_number, ..WarpTrace::default() });
        }
        world.blocks[block].live[warp_number as usize] = warp.live;
        warps.push(Some(Box::new(warp)));
        running.push(index);
    }
}

/// Resumes threads that waited.
fn wake(world: &mut World<'_, '_>, warps: &mut [Option<Box<Warp>>]) {
    for wake in std::mem::take(&mut world.wakes) {
        let Some(warp) = warps[wake.warp].as_mut() else { continue };
        warp.blocked &= !wake.lanes;
        for lane in super::warp::lanes(wake.lanes) {
            warp.pc[lane] += 1;
            if let Some((frame, row, value)) = wake.result
                && let Some(frame) = warp.frames[frame as usize].as_mut()
            {
                let bits = world.function(frame.function).rows[row as usize].bits;
                frame.set(crate::emulate::program::Row(row), bits, lane, Some(value));
            }
        }
        warp.join(&wake.clocks);
        warp.tick();
    }
}

/// Runs threads of a warp for some steps.
fn run_warp(world: &mut World<'_, '_>, warp: &mut Warp, burst: u32) -> Ran<()> {
    let mut left = burst;
    while left > 0 {
        let runnable = warp.live & !warp.blocked;
        if runnable == 0 {
            if warp.gathering != 0 && super::collective::retry(world, warp)? {
                left -= 1;
                continue;
            }
            return Ok(());
        }
        let (frame_number, mut pc, mask) = choose(world, warp, runnable);
        warp.cycle.ran |= mask;
        let mut may_repeat = false;
        let others = runnable & !mask;
        let same_frame = super::warp::lanes(others).filter(|&lane| warp.frame[lane] == frame_number);
        let limit = same_frame.map(|lane| warp.pc[lane]).filter(|&other| other > pc).min().unwrap_or(u32::MAX);
        let Some(mut frame) = warp.frames[frame_number as usize].take() else { return halt("a frame is missing") };
        let function = world.function(frame.function);
        let outcome = loop {
            let next = step(world, warp, &mut frame, frame_number, &function.insts[pc as usize], pc, mask);
            left = left.saturating_sub(1);
            match next {
                Ok(Next::Go) => {
                    pc += 1;
                    if left == 0 || pc >= limit {
                        break Ok(Some(pc));
                    }
                }
                Ok(Next::Jump(target)) => {
                    may_repeat = target <= pc && world.is_quiet();
                    pc = target;
                    if left == 0 || others != 0 || may_repeat {
                        break Ok(Some(pc));
                    }
                }
                Ok(Next::Yield) => {
                    left = 0;
                    break Ok(Some(pc + 1));
                }
                Ok(Next::Placed) => {
                    may_repeat = world.is_quiet();
                    break Ok(None);
                }
                Ok(Next::Pause) => {
                    left = 0;
                    break Ok(None);
                }
                Err(mut halt) => {
                    halt.reason = describe(world, &frame, pc, &halt.reason);
                    break Err(halt);
                }
            }
        };
        if let Some(pc) = outcome? {
            super::warp::lanes(mask).for_each(|lane| warp.pc[lane] = pc);
        }
        if frame.lanes != 0 {
            warp.frames[frame_number as usize] = Some(frame);
        }
        if may_repeat {
            warp.check(world.changes);
        }
    }
    Ok(())
}

fn describe(world: &World<'_, '_>, frame: &Frame, pc: u32, reason: &str) -> String {
    let function = world.function(frame.function);
    format!("{reason} ({} of {})", world.program.place(function.insts[pc as usize].line), function.name)
}

/// Chooses the threads that run next: a frame, an instruction, and the lanes at it.
fn choose(world: &mut World<'_, '_>, warp: &mut Warp, runnable: u32) -> (u32, u32, u32) {
    let first = runnable.trailing_zeros() as usize;
    let mut best = first;
    let depth =
        |warp: &Warp, lane: usize| warp.frames[warp.frame[lane] as usize].as_ref().map_or(0, |frame| frame.depth);
    let is_reversed = world.setting.turns == Turns::LastToFirst;
    let mut is_parted = false;
    for lane in super::warp::lanes(runnable).skip(1) {
        if (warp.frame[lane], warp.pc[lane]) == (warp.frame[best], warp.pc[best]) {
            continue;
        }
        is_parted = true;
        let at = |lane: usize| if is_reversed { u32::MAX - warp.pc[lane] } else { warp.pc[lane] };
        let key = |lane: usize| (std::cmp::Reverse(depth(warp, lane)), warp.frame[lane], at(lane));
        if key(lane) < key(best) {
            best = lane;
        }
    }
    if is_parted {
        warp.turns += 1;
        if warp.turns.is_multiple_of(64) {
            let number = world.random(runnable.count_ones() as usize);
            best = super::warp::lanes(runnable).nth(number).unwrap_or(best);
        }
    }
    let (frame, pc) = (warp.frame[best], warp.pc[best]);
    let here = super::warp::lanes(runnable).filter(|&lane| (warp.frame[lane], warp.pc[lane]) == (frame, pc));
    let mask = here.fold(0, |mask, lane| mask | 1 << lane);
    (frame, pc, mask)
}
