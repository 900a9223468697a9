//! Properties of the machine model that follow from its definitions. `tests/rust/occupancy.rs` compares the model with
//! NVIDIA's header.

use arbitrary::{Result, Unstructured};
use arbtest::arbtest;

use super::*;
use crate::error::ErrorKind;

fn architecture(u: &mut Unstructured<'_>) -> Result<&'static Architecture> {
    u.choose(Architecture::all())
}

fn launch(u: &mut Unstructured<'_>) -> Result<Launch> {
    let shared = |u: &mut Unstructured<'_>| if u.arbitrary()? { u.int_in_range(0..=240 * 1024) } else { Ok(0) };
    Ok(Launch {
        registers: u.int_in_range(0..=260)?,
        threads: if u.arbitrary()? { Some(u.int_in_range(0..=1100)?) } else { None },
        static_shared: shared(u)?,
        dynamic_shared: shared(u)?,
        barriers: u.int_in_range(0..=16)?,
        carve_out: if u.arbitrary()? { Some(u.int_in_range(0..=110)?) } else { None },
    })
}

/// Returns the most registers, below `below` and up to the hardware's limit, that satisfy a predicate, by trying each
/// count.
fn most(below: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    (1..below.min(MAX_REGISTERS + 1)).rev().find(|registers| holds(*registers))
}

/// More registers, shared memory or barriers never increase the resident warps.
#[test]
fn more_of_anything_is_never_more_warps() {
    arbtest(|u| {
        let (machine, launch) = (architecture(u)?, launch(u)?);
        let (more, bytes) = (u.int_in_range(0..=64)?, u.int_in_range(0..=65536)?);
        let warps = |launch: Launch| machine.occupancy(&launch).warps;
        let now = warps(launch);
        assert!(warps(launch.with_registers(launch.registers + more)) <= now, "{launch:?} {more}");
        assert!(warps(Launch { barriers: launch.barriers.max(1) + more, ..launch }) <= now, "{launch:?} {more}");
        let with_shared = Launch { dynamic_shared: launch.dynamic_shared + bytes, ..launch };
        assert!(warps(with_shared) <= now, "{launch:?} {bytes}");
        Ok(())
    })
    .budget_ms(500);
}

/// The resident blocks fit, the tightest resource determines their number, and the reported limits are reached.
#[test]
fn resources_are_filled_and_not_exceeded() {
    arbtest(|u| {
        let (machine, launch) = (architecture(u)?, launch(u)?);
        let occupancy = machine.occupancy(&launch);
        let Occupancy { blocks, limits, block_limits, .. } = occupancy;
        assert!(!limits.is_empty());
        assert!(occupancy.warps <= machine.max_warps && blocks <= machine.max_blocks);
        assert!(u64::from(blocks) * u64::from(occupancy.registers_per_block) <= u64::from(REGISTERS));
        assert!(u64::from(blocks) * u64::from(occupancy.shared_per_block) <= u64::from(machine.shared()));
        let BlockLimits { warps, blocks: most, registers, shared_memory, barriers } = block_limits;
        let all = [Some(warps), Some(most), registers, shared_memory, barriers];
        assert_eq!(all.into_iter().flatten().min(), Some(blocks), "{launch:?}");
        let by_barriers = barriers == Some(blocks);
        assert_eq!(limits.contains(Limits::BARRIERS), by_barriers, "{launch:?}");
        assert!(!limits.contains(Limits::REGISTERS) || by_barriers || registers == Some(blocks), "{launch:?}");
        Ok(())
    })
    .budget_ms(500);
}

/// The edge of an occupancy step, and the next step, equal the results of trying all register counts.
#[test]
fn steps_are_what_trying_all_finds() {
    arbtest(|u| {
        let (machine, launch) = (architecture(u)?, launch(u)?);
        let warps = |registers| machine.occupancy(&launch.with_registers(registers)).warps;
        let now = warps(launch.registers);
        let edge = most(u32::MAX, |registers| warps(registers) == now).unwrap_or_default().max(launch.registers);
        assert_eq!(machine.step_edge(&launch), edge, "{launch:?}");
        let next = most(launch.registers, |registers| warps(registers) > now);
        assert_eq!(machine.next_step(&launch), next, "{launch:?}");
        // The edge of the next step is the step itself.
        if let Some(next) = next {
            assert_eq!(machine.step_edge(&launch.with_registers(next)), next, "{launch:?}");
        }
        Ok(())
    })
    .budget_ms(500);
}

/// The shared memory that costs no block equals the result of trying all sizes.
#[test]
fn free_shared_memory_is_what_trying_all_finds() {
    arbtest(|u| {
        let (machine, launch) = (architecture(u)?, launch(u)?);
        let (step, most) = (*u.choose(&[16, 1024])?, u.int_in_range(0..=48 * 1024)?);
        let blocks = |bytes| {
            machine.occupancy(&Launch { static_shared: launch.static_shared.saturating_add(bytes), ..launch }).blocks
        };
        let sizes = (0..=most).step_by(step as usize);
        let free = sizes.filter(|&bytes| blocks(bytes) == blocks(0)).last();
        assert_eq!(Some(machine.free_shared(&launch, step, most)), free, "{launch:?}");
        Ok(())
    })
    .budget_ms(500);
}

/// The possible sizes of shared memory, as the CUDA C++ Programming Guide lists them for each compute capability.
#[test]
fn carve_outs_known_by_heart() {
    let up_to = |most: u32| [0, 8, 16, 32, 64, 100, 132, 164, 196, 228].into_iter().filter(move |&size| size <= most);
    let sizes = |name| Architecture::by_name(name).expect("is known").carve_outs.iter().map(|bytes| bytes / 1024);
    assert!(sizes("sm_70").eq([0, 8, 16, 32, 64, 96]));
    assert!(sizes("sm_75").eq([32, 64]));
    for (most, names) in [
        (100, &["sm_86", "sm_89", "sm_120", "sm_121"][..]),
        (164, &["sm_80", "sm_87"]),
        (228, &["sm_90", "sm_100", "sm_103", "sm_110"]),
    ] {
        names.iter().for_each(|name| assert!(sizes(name).eq(up_to(most)), "{name}"));
    }
}

/// The carve-out of a launch is the smallest with which an SM holds as many blocks as with all of its memory. The L1
/// cache that additional bytes cost is the difference.
#[test]
fn carve_outs_hold_all_blocks() {
    arbtest(|u| {
        let (machine, launch) = (architecture(u)?, launch(u)?);
        let launch = Launch { carve_out: None, ..launch };
        let now = machine.occupancy(&launch);
        let needed = now.blocks.saturating_mul(now.shared_per_block);
        let smallest = machine.carve_outs.iter().find(|&&size| size >= needed).copied();
        assert_eq!(machine.carve_out_for(&launch), smallest.unwrap_or(machine.shared()), "{launch:?}");
        let more = u.int_in_range(0..=48 * 1024)?;
        let with = Launch { static_shared: launch.static_shared.saturating_add(more), ..launch };
        let given_up = machine.carve_out_for(&with).saturating_sub(machine.carve_out_for(&launch));
        assert_eq!(machine.cache_given_up(&launch, more), given_up, "{launch:?}, {more} more");
        Ok(())
    })
    .budget_ms(500);
    // Eight blocks of 256 threads need 8 KB for the driver without shared memory. With 6,000 bytes of slots for each
    // block, they need 56 KB.
    let hopper = Architecture::by_name("sm_90").expect("is known");
    let launch = Launch::new(32).with_threads(256);
    assert_eq!(hopper.carve_out_for(&launch), 8 * 1024);
    assert_eq!(hopper.cache_given_up(&launch, 6000), (64 - 8) * 1024);
    assert_eq!(hopper.cache_given_up(&launch, 0), 0);
    // Two blocks of 1,024 threads with 8 KB of slots: 18 KB in all, a carve-out of 32 KB instead of 8 KB.
    let launch = Launch::new(32).with_threads(1024);
    assert_eq!(hopper.cache_given_up(&launch, 8 * 1024), (32 - 8) * 1024);
    // Turing has at least 32 KB, which four blocks of 8 KB fill. Its driver reserves nothing.
    let turing = Architecture::by_name("sm_75").expect("is known");
    let launch = Launch::new(64).with_threads(256);
    assert_eq!([8, 9].map(|kib| turing.cache_given_up(&launch, kib * 1024)), [0, 32 * 1024]);
}

/// The most registers for a block, and for a number of resident blocks, equal the results of trying all register
/// counts.
#[test]
fn the_most_registers_are_what_trying_all_finds() {
    for machine in Architecture::all() {
        for threads in (0..=1056).step_by(32).chain([1, 33, 100, 1023, 1025, u32::MAX]) {
            let limits = |registers| machine.occupancy(&Launch::new(registers).with_threads(threads)).block_limits;
            let by_registers: Vec<_> = (0..=MAX_REGISTERS).map(|registers| limits(registers).registers).collect();
            let most = |blocks| most(u32::MAX, |registers| by_registers[registers as usize] >= Some(blocks));
            let by_warps = limits(1).warps;
            let most_for_one = most(1).filter(|_| by_warps > 0);
            assert_eq!(machine.max_registers_for_block(threads), most_for_one, "{}, {threads} threads", machine.name);
            for blocks in 0..=machine.max_blocks + 1 {
                let expected = most(blocks).filter(|_| (1..=by_warps.min(machine.max_blocks)).contains(&blocks));
                let found = machine.registers_for_blocks(threads, blocks);
                assert_eq!(found, expected, "{}, {blocks} blocks of {threads} threads", machine.name);
            }
        }
    }
}

/// Well-known figures of these processors.
#[test]
fn figures_known_by_heart() {
    let hopper = Architecture::by_name("sm_90a").expect("is known");
    assert_eq!([32, 128, 129, 256, 257, 512, 704, 1024].map(|threads| hopper.max_registers_for_block(threads)), {
        [255, 255, 255, 255, 168, 128, 80, 64].map(Some)
    });
    let launch = Launch::new(32).with_threads(256);
    assert_eq!(hopper.occupancy(&launch).warps, 64);
    assert_eq!((hopper.step_edge(&launch), hopper.next_step(&launch)), (32, None));
    let launch = Launch::new(33).with_threads(256);
    assert_eq!(hopper.occupancy(&launch).limits, Limits::REGISTERS);
    assert_eq!((hopper.occupancy(&launch).warps, hopper.step_edge(&launch), hopper.next_step(&launch)), {
        (48, 40, Some(32))
    });
    // A block of the default size, and a block that takes all shared memory, for which registers are not the limit.
    assert_eq!(hopper.occupancy(&Launch::new(128)).warps, 16);
    let launch = Launch { dynamic_shared: hopper.shared_opt_in(), ..Launch::new(64).with_threads(1024) };
    let occupancy = hopper.occupancy(&launch);
    assert_eq!((occupancy.blocks, hopper.next_step(&launch)), (1, None));
    assert!(occupancy.limits.contains(Limits::SHARED_MEMORY));
    let too_much = Launch { dynamic_shared: hopper.shared_opt_in() + 1, ..launch };
    assert_eq!((hopper.occupancy(&too_much).blocks, hopper.occupancy(&too_much).limits), (0, Limits::SHARED_MEMORY));
}

/// Shared memory is allocated in multiples of 128 bytes, plus 1 KB for the driver in each block. If a launch prefers
/// less shared memory, the SM has the smallest size that satisfies the preference and fits one block.
#[test]
fn shared_memory_known_by_heart() {
    let hopper = Architecture::by_name("sm_90").expect("is known");
    let of = |static_shared, carve_out| {
        let launch = Launch { static_shared, carve_out, ..Launch::new(32).with_threads(32) };
        let occupancy = hopper.occupancy(&launch);
        (occupancy.shared_per_block, occupancy.block_limits.shared_memory)
    };
    assert_eq!(of(0, None), (1024, Some(228)));
    assert_eq!(of(1, None), (1152, Some(228 * 1024 / 1152)));
    assert_eq!(of(128, None).0, 1152);
    assert_eq!(of(129, None).0, 1280);
    // With a preference for no shared memory, a small block gets the smallest size of 8 KB, and a block of 40 KB gets
    // 64 KB.
    assert_eq!(of(1024, Some(0)), (2048, Some(4)));
    assert_eq!(of(40 * 1024, Some(0)), (41 * 1024, Some(1)));
    assert_eq!(of(40 * 1024, Some(100)), (41 * 1024, Some(5)));
}

/// Extreme numbers give 0 blocks and no panic.
#[test]
fn absurd_launches_are_refused() {
    for machine in Architecture::all() {
        for absurd in [
            Launch::new(u32::MAX).with_threads(u32::MAX),
            Launch { static_shared: u32::MAX, dynamic_shared: u32::MAX, ..Launch::new(1) },
            Launch { barriers: u32::MAX, ..Launch::new(u32::MAX) },
            Launch::new(0).with_threads(0),
        ] {
            let occupancy = machine.occupancy(&absurd);
            assert_eq!((occupancy.blocks, occupancy.warps), (0, 0), "{}: {absurd:?}", machine.name);
            assert!(machine.step_edge(&absurd) >= absurd.registers);
        }
        assert_eq!(machine.registers_for_blocks(1024, u32::MAX), None);
    }
}

/// Names are found only with existing suffixes. The error lists the known names.
#[test]
fn names_and_suffixes() {
    for machine in Architecture::all() {
        assert_eq!(machine.name, format!("sm_{}{}", machine.major, machine.minor));
        let found = |suffix| Architecture::by_name(&format!("{}{suffix}", machine.name)).ok();
        assert_eq!(found(""), Some(machine));
        assert_eq!(found("a"), Some(machine).filter(|machine| machine.major >= 9));
        assert_eq!(found("f"), Some(machine).filter(|machine| machine.major >= 10));
        assert_eq!(found("b"), None);
    }
    for unknown in ["sm_42", "gfx90a", "", "sm_", "sm_9", "sm_900", "sm_90aa", "SM_90", "compute_90"] {
        let error = Architecture::by_name(unknown).expect_err("is not known");
        assert_eq!(error.kind, ErrorKind::Option);
        assert!(error.problem.contains(&format!("'{unknown}'")), "{error}");
        assert!(error.remedy.contains("sm_70, sm_72,") && error.remedy.contains("sm_121"), "{error}");
    }
}

/// The architectures and their carve-outs are ascending, and register files have as many registers as SASS can name.
#[test]
fn the_table_is_sound() {
    assert!(Architecture::all().is_sorted_by_key(|machine| (machine.major, machine.minor)));
    for machine in Architecture::all() {
        assert!(machine.carve_outs.is_sorted() && machine.shared_opt_in() >= SHARED_PER_BLOCK);
        assert_eq!(machine.carve_out(u32::MAX), machine.shared());
        let has_uniform = (machine.major, machine.minor) >= (7, 5);
        assert_eq!(machine.registers(RegisterFile::Uniform) > 0, has_uniform);
        assert_eq!(machine.registers(RegisterFile::UniformPredicate) > 0, has_uniform);
    }
    let files = [RegisterFile::General, RegisterFile::Uniform, RegisterFile::Predicate, RegisterFile::UniformPredicate];
    let sizes = |name| files.map(|file| Architecture::by_name(name).expect("is known").registers(file));
    assert_eq!(sizes("sm_72"), [255, 0, 7, 0]);
    assert_eq!(sizes("sm_90"), [255, 63, 7, 7]);
    assert_eq!(sizes("sm_120f"), [255, 255, 7, 7]);
    assert_eq!(files.map(RegisterFile::prefix), ["R", "UR", "P", "UP"]);
}
