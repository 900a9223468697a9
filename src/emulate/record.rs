//! Records a launch for repetition on a GPU: the arguments, and the touched memory before and after.
//!
//! The buffers of pointer parameters are 4 GiB apart, so an address identifies its buffer. A launch that touches other
//! memory cannot be repeated, because its address on a GPU is unknown.

use std::collections::BTreeMap;

use super::compare::odd_stores;
use super::launch::{LaunchSeed, Launches};
use super::layout;
use super::machine::{Outcome, Setting};
use super::memory::Image;
use super::program::{Kernel, Program};
use super::ready::is_wild;
use super::run::{Side, run_in_order, stores};
use super::types::Kind;

/// A parameter of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The value. Pointers have the emulator's addresses.
    pub bytes: Vec<u8>,
    /// Offsets of the pointers among the bytes, each with the index of its buffer.
    pub pointers: Vec<(usize, usize)>,
}

/// Consecutive values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// The offset of the first byte in the buffer.
    pub offset: usize,
    /// The number of values.
    pub count: usize,
    /// The bytes of each value.
    pub bytes: usize,
    /// The kind of the values.
    pub kind: Kind,
}

/// The part of a buffer that a launch touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The start, relative to the address in the parameter.
    pub start: i64,
    /// The contents before the launch. Bytes that the launch does not read are zero.
    pub before: Vec<u8>,
    /// The contents after the launch.
    pub after: Vec<u8>,
    /// The stored values, by offset.
    pub stored: Vec<Values>,
}

/// A launch that can be repeated.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Grid and block.
    pub shape: [[u32; 3]; 2],
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The touched buffers.
    pub buffers: Vec<Buffer>,
    /// The coverage.
    pub side: Side,
}

/// The most bytes of all buffers together.
const MOST_BYTES: usize = 256 << 20;
/// The largest distance from the start of a buffer at which a number counts as an address in it.
const NEAR: u64 = 1 << 28;
/// The largest index of a buffer to which a parameter may point.
const MOST_BUFFERS: usize = 4096;
/// Buffers begin and end at multiples of this number.
const ALIGNMENT: i64 = 256;

/// Runs the first launch of a kernel and records it.
///
/// # Errors
/// Returns the reason why the launch cannot be compared or repeated.
pub fn record(program: &Program, kernel: &str, launches: &Launches) -> Result<Record, String> {
    let number = program.kernel(kernel).ok_or_else(|| format!("there is no kernel {kernel}"))?;
    let setting = launches.setting(program, number, &LaunchSeed::default(), 0);
    let mut image = launches.image(program, &setting, &LaunchSeed::default());
    let outcome = run_in_order(program, &setting, &mut image)?;
    if let Some((_, source)) = outcome.undefined.first() {
        return Err(format!("it stores bytes that are undefined: {source}"));
    }
    if is_wild(odd_stores(&outcome)) {
        return Err("more than a tenth of its stored numbers are NaN or infinite".into());
    }
    let mut side = Side::default();
    side.add(program, &outcome);
    if let Some((name, _)) = side.hashed().next() {
        return Err(format!("it runs {name}, which is not modelled"));
    }
    let mut places = BTreeMap::new();
    let mut parameters = parameters(program, &setting, &mut image, &mut places);
    let buffers = buffers(program, &outcome, &image, &places)?;
    let used: Vec<usize> = buffers.keys().copied().collect();
    for parameter in &mut parameters {
        parameter.pointers.retain_mut(|(_, buffer)| {
            let place = used.binary_search(buffer);
            *buffer = place.unwrap_or(0);
            place.is_ok()
        });
    }
    let buffers = buffers.into_values().collect();
    Ok(Record { shape: [setting.grid, setting.block], parameters, buffers, side })
}

/// Returns the parameters, and enters the address of each buffer by its index.
fn parameters(
    program: &Program,
    setting: &Setting,
    image: &mut Image,
    places: &mut BTreeMap<usize, u64>,
) -> Vec<Parameter> {
    let Kernel { parameters, .. } = program.functions[setting.kernel].kernel.clone().unwrap_or_default();
    let mut recorded = Vec::new();
    for parameter in parameters {
        let (start, bytes) = (u64::from(parameter.offset), u64::from(parameter.bytes));
        let at = |offset| layout::PARAMETERS + start + offset;
        let bytes: Vec<u8> = (0..bytes).map(|offset| image.read(at(offset), 1, Kind::Integer) as u8).collect();
        let mut pointers = Vec::new();
        for (word, value) in bytes.chunks_exact(8).enumerate() {
            let value = u64::from_le_bytes(value.try_into().unwrap_or_default());
            let number = (value.wrapping_sub(layout::BUFFERS) >> 32) as usize;
            if start.is_multiple_of(8) && value as u32 == 0 && (1..=MOST_BUFFERS).contains(&number) {
                places.insert(number, value);
                pointers.push((8 * word, number));
            }
        }
        recorded.push(Parameter { name: parameter.name, bytes, pointers });
    }
    recorded
}

/// The first and the last touched byte of each buffer, by the buffer's index.
#[derive(Default)]
struct Extents(BTreeMap<usize, (i64, i64)>);

impl Extents {
    fn add(&mut self, number: usize, first: i64, last: i64) {
        let extent = self.0.entry(number).or_insert((first, last));
        *extent = (extent.0.min(first), extent.1.max(last));
    }
}

/// Returns the buffer that contains an address, and the offset in it.
fn place_of(address: u64, places: &BTreeMap<usize, u64>) -> Result<(usize, i64), String> {
    let number = (address.wrapping_sub(layout::BUFFERS).wrapping_add(1 << 31) >> 32) as usize;
    match places.get(&number) {
        Some(&start) => Ok((number, address.wrapping_sub(start) as i64)),
        None => Err(format!("it accesses memory at {address:#x}, to which no parameter points")),
    }
}

/// A page of initial contents in a buffer.
struct Page<'a> {
    buffer: usize,
    /// The start of the page, relative to the buffer's address.
    offset: i64,
    data: &'a [u8],
    present: &'a [u64],
}

/// Returns the pages that were read before they were written.
fn read<'a>(
    program: &Program,
    image: &'a Image,
    places: &BTreeMap<usize, u64>,
    extents: &mut Extents,
) -> Result<Vec<Page<'a>>, String> {
    let mut pages = Vec::new();
    for (address, data, present) in image.known() {
        let bits = present.iter().map(|word| word.count_ones()).sum::<u32>();
        if bits == 0 || layout::in_window(address, layout::PARAMETERS) {
            continue;
        }
        let first = present.iter().enumerate().find(|word| *word.1 != 0);
        let last = present.iter().enumerate().rfind(|word| *word.1 != 0);
        let first = first.map_or(0, |(number, word)| 64 * number as u64 + u64::from(word.trailing_zeros()));
        let last = last.map_or(0, |(number, word)| 64 * number as u64 + 63 - u64::from(word.leading_zeros()));
        let variable = program.variables.iter().find(|variable| {
            (address + first).wrapping_sub(variable.address) < variable.content.len() as u64
                && (address + last).wrapping_sub(variable.address) < variable.content.len() as u64
        });
        if variable.is_none() {
            let (buffer, offset) = place_of(address + first, places)?;
            extents.add(buffer, offset, offset + (last - first) as i64);
            pages.push(Page { buffer, offset: offset - first as i64, data, present });
        }
    }
    Ok(pages)
}

/// Extends the buffers by the written words.
fn written(outcome: &Outcome, places: &BTreeMap<usize, u64>, extents: &mut Extents) -> Result<(), String> {
    let mut previous = None;
    for &(address, value, _, write) in &outcome.written {
        let (number, offset) = place_of(address, places)?;
        extents.add(number, offset, offset + 3);
        // An emulator address in memory has no meaning on a GPU.
        let low = previous.replace((address, value)).filter(|&(before, _)| before + 4 == address && address % 8 == 4);
        let Some(pair) = low.map(|(_, low)| u64::from(low) | u64::from(value) << 32) else { continue };
        let is_near = places.values().any(|start| pair.wrapping_sub(*start).wrapping_add(NEAR) < 2 * NEAR);
        let is_loaded = (layout::MORE_BUFFERS..2 * layout::MORE_BUFFERS).contains(&pair);
        if (is_near && !write.kind.is_float()) || (is_loaded && write.kind == Kind::Pointer) {
            return Err(format!("it stores an address at {:#x}", address - 4));
        }
    }
    Ok(())
}

/// Returns zeroed buffers that cover the touched bytes.
fn empty(extents: Extents) -> Result<BTreeMap<usize, Buffer>, String> {
    let mut buffers = BTreeMap::new();
    let mut all_bytes = 0;
    for (number, (first, last)) in extents.0 {
        let start = first.div_euclid(ALIGNMENT) * ALIGNMENT;
        let bytes = ((last - start) / ALIGNMENT + 1) * ALIGNMENT;
        all_bytes += bytes as usize;
        if all_bytes > MOST_BYTES {
            return Err(format!("its accesses span more than {MOST_BYTES} bytes"));
        }
        let before = vec![0; bytes as usize];
        buffers.insert(number, Buffer { start, before, after: Vec::new(), stored: Vec::new() });
    }
    Ok(buffers)
}

fn buffers(
    program: &Program,
    outcome: &Outcome,
    image: &Image,
    places: &BTreeMap<usize, u64>,
) -> Result<BTreeMap<usize, Buffer>, String> {
    let mut extents = Extents::default();
    let pages = read(program, image, places, &mut extents)?;
    written(outcome, places, &mut extents)?;
    let mut buffers = empty(extents)?;
    for Page { buffer, offset, data, present } in pages {
        let Some(buffer) = buffers.get_mut(&buffer) else { continue };
        for (byte, &value) in data.iter().enumerate().filter(|(byte, _)| present[byte / 64] >> (byte % 64) & 1 == 1) {
            buffer.before[(offset + byte as i64 - buffer.start) as usize] = value;
        }
    }
    for buffer in buffers.values_mut() {
        buffer.after.clone_from(&buffer.before);
    }
    for store in stores(&outcome.written) {
        let (number, offset) = place_of(store.address, places)?;
        let Some(buffer) = buffers.get_mut(&number) else { continue };
        let offset = (offset - buffer.start) as usize;
        buffer.after[offset..offset + store.bytes].copy_from_slice(&store.bits.to_le_bytes()[..store.bytes]);
        match buffer.stored.last_mut() {
            Some(run)
                if run.kind == store.kind
                    && run.bytes == store.bytes
                    && run.offset + run.bytes * run.count == offset =>
            {
                run.count += 1;
            }
            _ => buffer.stored.push(Values { offset, count: 1, bytes: store.bytes, kind: store.kind }),
        }
    }
    Ok(buffers)
}
