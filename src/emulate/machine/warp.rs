//! A warp and the positions of its threads.

use std::borrow::Cow;

use super::cycle::{Cycle, State};
use super::frame::Frame;
use super::pending::Copies;
use super::world::World;
use crate::emulate::memory::{Flat, Origin, Stamp};
use crate::emulate::program::{Init, LaneMask, Special};
use crate::emulate::types::{low, mixed};

/// A warp.
#[derive(Debug)]
pub(super) struct Warp {
    /// The block's index, and the warp's index in the block.
    pub(super) block: usize,
    pub(super) number: u8,
    /// The index among the running warps.
    pub(super) index: usize,
    pub(super) live: u32,
    /// The lanes that wait.
    pub(super) blocked: u32,
    /// The waiting lanes that wait for other lanes of the warp.
    pub(super) gathering: u32,
    /// For each lane in `gathering`, the lanes for which it waits: its mask at arrival.
    pub(super) wanted: [u32; 32],
    pub(super) pc: [u32; 32],
    pub(super) frame: [u32; 32],
    pub(super) frames: Vec<Option<Box<Frame>>>,
    pub(super) local: Vec<Flat>,
    pub(super) clocks: [u32; 32],
    pub(super) copies: Vec<Copies>,
    /// How often threads were chosen while the warp was diverged. Every 64th choice is drawn.
    pub(super) turns: u32,
    pub(super) cycle: Cycle,
}

impl Warp {
    /// Creates the warp with the given index in a block.
    pub(super) fn new(world: &World<'_, '_>, block: usize, number: u32, index: usize) -> Self {
        let threads: u32 = world.setting.block.iter().product();
        let count = (threads - 32 * number).min(32);
        let live = low(u64::MAX, count) as u32;
        let mut warp = Self {
            block,
            number: number as u8,
            index,
            live,
            blocked: 0,
            gathering: 0,
            wanted: [0; 32],
            pc: [0; 32],
            frame: [0; 32],
            frames: Vec::new(),
            local: vec![Flat::default(); 32],
            clocks: [0; 32],
            copies: vec![Copies::default(); 32],
            turns: 0,
            cycle: Cycle::default(),
        };
        warp.clocks[number as usize] = 1;
        let frame = warp.enter(world, world.setting.kernel, [0; 32], live, 0, None);
        warp.frames.push(Some(Box::new(frame)));
        warp
    }

    /// Returns a thread's index in its block.
    pub(super) fn thread(&self, lane: usize) -> u32 {
        u32::from(self.number) * 32 + lane as u32
    }

    /// Returns a thread's index in the grid.
    pub(super) fn global_thread(&self, world: &World<'_, '_>, lane: usize) -> u64 {
        let threads: u32 = world.setting.block.iter().product();
        u64::from(world.blocks[self.block].number) * u64::from(threads) + u64::from(self.thread(lane))
    }

    /// Enters a function: creates its frame, with its constants.
    pub(super) fn enter(
        &self,
        world: &World<'_, '_>,
        number: usize,
        base: [u32; 32],
        lanes: u32,
        depth: u32,
        caller: Option<(u32, u32)>,
    ) -> Frame {
        let function = world.function(number);
        let mut frame = Frame {
            function: number,
            values: vec![[0; 32]; function.rows.len()],
            defined: vec![u32::MAX; function.rows.len()],
            parts: vec![None; function.rows.len()],
            origins: vec![Origin::default(); function.rows.len()],
            caller,
            depth,
            base,
            top: base.map(|base| base + function.frame_bytes),
            lanes,
        };
        for (row, info) in function.rows.iter().enumerate() {
            let values = &mut frame.values[row];
            match info.init {
                Init::Undefined if world.setting.traces => {}
                Init::Undefined => frame.defined[row] = 0,
                Init::Leftover { .. } if world.setting.traces => {}
                Init::Leftover { is_uniform } => {
                    for (lane, value) in values.iter_mut().enumerate() {
                        let thread = if is_uniform { 0 } else { lane as u64 };
                        let drawn = mixed(world.setting.schedule ^ mixed((row as u64) << 8 | thread));
                        *value = low(drawn, info.bits);
                    }
                }
                Init::Constant(value) => *values = [value; 32],
                Init::Frame(offset) => {
                    values.iter_mut().zip(base).for_each(|(value, base)| *value = u64::from(base + offset));
                }
                Init::Special(Special::Unknown(_)) if world.setting.traces => {}
                Init::Special(Special::Unknown(_)) => frame.defined[row] = 0,
                Init::Special(special) => {
                    for (lane, value) in values.iter_mut().enumerate() {
                        *value = self.special(world, special, lane).into();
                    }
                }
            }
        }
        frame
    }

    fn special(&self, world: &World<'_, '_>, special: Special, lane: usize) -> u32 {
        let [width, height, _] = world.setting.block;
        let thread = self.thread(lane);
        let at = |axis: u8, triple: [u32; 3]| triple[usize::from(axis)];
        match special {
            Special::Tid(axis) => at(axis, [thread % width, thread / width % height, thread / width / height]),
            Special::Ntid(axis) => at(axis, world.setting.block),
            Special::Ctaid(axis) => at(axis, world.blocks[self.block].place),
            Special::Nctaid(axis) => at(axis, world.setting.grid),
            Special::Lane => lane as u32,
            Special::LaneMask(mask) => {
                let own = 1u32 << lane;
                match mask {
                    LaneMask::Equal => own,
                    LaneMask::Less => own - 1,
                    LaneMask::LessEqual => own | (own - 1),
                    LaneMask::GreaterEqual => !(own - 1),
                    LaneMask::Greater => !(own | (own - 1)),
                }
            }
            Special::SharedBytes => world.setting.shared_bytes,
            Special::Unknown(_) => 0,
        }
    }

    /// Checks whether the warp repeats its states.
    pub(super) fn check(&mut self, changes: u64) {
        let Self { live, blocked, gathering, pc, frame, .. } = *self;
        let now = State {
            masks: [live, blocked, gathering],
            pc,
            frame,
            frames: Cow::Borrowed(self.frames.as_slice()),
            local: Cow::Borrowed(self.local.as_slice()),
            copies: Cow::Borrowed(self.copies.as_slice()),
        };
        self.cycle.check(&now, changes);
    }

    /// Returns the stamp of an access of a lane.
    pub(super) fn stamp(&self, lane: usize, is_strong: bool) -> Stamp {
        Stamp {
            clock: self.clocks[usize::from(self.number)],
            block: self.block as u32,
            warp: self.number,
            lane: lane as u8,
            is_strong,
            bytes: 0,
        }
    }

    /// Advances the clock: later accesses of the warp are not covered by clocks that others have received.
    pub(super) fn tick(&mut self) {
        self.clocks[usize::from(self.number)] += 1;
    }

    /// Joins the clocks of others.
    pub(super) fn join(&mut self, clocks: &[u32; 32]) {
        self.clocks.iter_mut().zip(clocks).for_each(|(own, &other)| *own = (*own).max(other));
    }
}

/// Returns the lanes of a mask, in order.
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
