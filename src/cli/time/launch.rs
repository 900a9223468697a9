//! Launches with real sizes, as tests/bench/gpu/manifest.py writes them.

use std::path::Path;

use nvptx_ra::emulate::{Argument, BUFFERS, Element, Fill, Filled, Launches, Program};
use nvptx_ra::error::{Error, ErrorKind};
use serde_json::Value;

use super::Arguments;
use crate::input;

/// The launches of the kernels.
pub(super) struct DrawnOrGivenLaunches {
    plain: Launches,
    /// A file's entries, one for each kernel.
    entries: Option<Vec<Value>>,
    file: String,
}

/// The most warp instructions of a given launch, and of a drawn launch. A drawn launch should be short.
const STEPS_GIVEN: u64 = 4_000_000;
const STEPS_DRAWN: u64 = 400_000;

/// Reads the options.
pub(super) fn of(arguments: &Arguments) -> Result<DrawnOrGivenLaunches, Error> {
    let is_given = arguments.grid.is_some() || arguments.launch.is_some();
    let plain = Launches {
        count: 1,
        seed: arguments.seed,
        grid: arguments.grid,
        block: arguments.block,
        dynamic_shared: arguments.dynamic_shared,
        arguments: arguments.arguments.clone(),
        most_steps: arguments.steps.unwrap_or(if is_given { STEPS_GIVEN } else { STEPS_DRAWN }),
        ..Launches::default()
    };
    let entries = arguments.launch.as_deref().map(entries).transpose()?;
    let file = arguments.launch.as_deref().map(input::name).unwrap_or_default();
    Ok(DrawnOrGivenLaunches { plain, entries, file })
}

fn entries(path: &Path) -> Result<Vec<Value>, Error> {
    let text = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&input::name(path), &error.to_string()))
}

fn wrong(file: &str, what: &str) -> Error {
    let problem = format!("{file}: not a file of launches: {what}");
    Error::new(ErrorKind::Option, problem, "see docs/time.md for the format")
}

impl DrawnOrGivenLaunches {
    /// Returns the launch of a kernel.
    pub(super) fn of_kernel(&self, kernel: &str, program: &Program) -> Result<Launches, Error> {
        let Some(entries) = &self.entries else { return Ok(self.plain.clone()) };
        let entry = entries.iter().find(|entry| entry["name"] == kernel);
        let entry = entry.ok_or_else(|| wrong(&self.file, &format!("it has no kernel {kernel}")))?;
        let shape = |key: &str| {
            let sides: Vec<u32> =
                entry[key].as_array()?.iter().filter_map(|side| Some(side.as_u64()? as u32)).collect();
            <[u32; 3]>::try_from(sides).ok().filter(|sides| sides.iter().all(|&side| side > 0))
        };
        let (Some(grid), Some(block)) = (shape("grid"), shape("block")) else {
            return Err(wrong(&self.file, &format!("{kernel} has no grid or no block of three sizes")));
        };
        let mut buffers = Buffers { next: BUFFERS, filled: Vec::new() };
        let arguments = entry["arguments"].as_array().map_or(&[][..], Vec::as_slice);
        let packed: Option<Vec<Vec<u8>>> = arguments.iter().map(|argument| buffers.packed(argument)).collect();
        let packed =
            packed.ok_or_else(|| wrong(&self.file, &format!("an argument of {kernel} has an unknown form")))?;
        if let Some(count) = program.num_parameters(kernel).filter(|&count| count != packed.len()) {
            return Err(wrong(&self.file, &format!("{kernel} has {count} parameters, not {}", packed.len())));
        }
        Ok(Launches {
            grid: Some(grid),
            block: Some(block),
            dynamic_shared: entry["shared"].as_u64().unwrap_or_default() as u32,
            arguments: packed.into_iter().map(Argument::Bytes).collect(),
            filled: buffers.filled,
            ..self.plain.clone()
        })
    }
}

/// The memory of a launch's buffers, which are placed one after the other.
struct Buffers {
    next: u64,
    filled: Vec<Filled>,
}

impl Buffers {
    /// Returns the bytes of an argument: a number, a buffer's address, or a struct of these.
    fn packed(&mut self, argument: &Value) -> Option<Vec<u8>> {
        match argument["kind"].as_str()? {
            "scalar" => scalar(argument["type"].as_str()?, &argument["value"]),
            "buffer" => Some(self.buffer(argument)?.to_le_bytes().to_vec()),
            "struct" => {
                let (mut bytes, mut most) = (Vec::new(), 1);
                for field in argument["fields"].as_array()? {
                    let alignment = alignment(field)?;
                    let part = self.packed(field)?;
                    most = most.max(alignment);
                    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
                    bytes.extend(part);
                }
                bytes.resize(bytes.len().next_multiple_of(most), 0);
                Some(bytes)
            }
            _ => None,
        }
    }

    fn buffer(&mut self, argument: &Value) -> Option<u64> {
        let element = element(argument["type"].as_str()?)?;
        let number = |key: &str| argument[key].as_f64();
        let fill = match argument["fill"].as_str()? {
            "zeros" => Fill::Zeros,
            "ramp" => Fill::Ramp(number("high")?),
            "uniform" => Fill::Uniform(number("low")?, number("high")?),
            "integers" => Fill::Whole(number("low")?, number("high")?),
            _ => return None,
        };
        let size = match element {
            Element::Integer(bytes) | Element::Float(bytes) => u64::from(bytes),
        };
        let bytes = argument["count"].as_u64()?.checked_mul(size)?;
        let start = self.next;
        // As in cudaMalloc, buffers begin at multiples of 256 bytes, and large buffers at multiples of 2 MiB.
        let step = if bytes < 1 << 20 { 256 } else { 1 << 21 };
        self.next = start.next_multiple_of(step) + bytes.next_multiple_of(step);
        let start = start.next_multiple_of(step);
        self.filled.push(Filled { start, bytes, element, fill });
        Some(start)
    }
}

fn element(name: &str) -> Option<Element> {
    Some(match name {
        "u8" => Element::Integer(1),
        "u16" => Element::Integer(2),
        "s32" | "u32" => Element::Integer(4),
        "u64" => Element::Integer(8),
        "f16" => Element::Float(2),
        "f32" => Element::Float(4),
        "f64" => Element::Float(8),
        _ => return None,
    })
}

fn alignment(argument: &Value) -> Option<usize> {
    match argument["kind"].as_str()? {
        "struct" => argument["fields"].as_array()?.iter().map(alignment).try_fold(1, |most, one| Some(most.max(one?))),
        "scalar" => Some(scalar(argument["type"].as_str()?, &argument["value"])?.len()),
        _ => Some(8),
    }
}

fn scalar(name: &str, value: &Value) -> Option<Vec<u8>> {
    let whole = || value.as_i64().or_else(|| value.as_f64().map(|value| value as i64));
    Some(match element(name)? {
        Element::Integer(bytes) => whole()?.to_le_bytes()[..usize::from(bytes)].to_vec(),
        Element::Float(8) => value.as_f64()?.to_le_bytes().to_vec(),
        Element::Float(4) => (value.as_f64()? as f32).to_le_bytes().to_vec(),
        Element::Float(_) => return None,
    })
}
