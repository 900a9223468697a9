//! Validity of a problem, and the errors of invalid problems.

use super::classes::WIDEST;
use super::{Class, LiveRange, Problem, is_place};
use crate::analysis::{Point, covering};
use crate::error::{Error, ErrorKind};
use crate::function::Block;

/// The error of an invalid problem, with the entity that has the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// A file without units.
    #[error("file {file}: a register limit of 0")]
    EmptyFile {
        /// The file's name.
        file: Box<str>,
    },
    /// A class whose width or alignment is 0, or larger than on any supported processor.
    #[error("class {class}: width and align must be from 1 to {WIDEST}")]
    Shape {
        /// The class's name.
        class: Box<str>,
    },
    /// A class that does not fit into its file.
    #[error("{range}, class {class}: {width} consecutive units do not fit into the {register_limit} of file {file}")]
    TooWide {
        /// The first live range of the class.
        range: LiveRange,
        /// The class's name.
        class: Box<str>,
        /// The file's name.
        file: Box<str>,
        /// Units of a member.
        width: u32,
        /// Units of the file.
        register_limit: u32,
    },
    /// A file has fewer units than instructions need at once, whatever is spilled. Only the engine that respects
    /// register limits reports this.
    #[error(
        "register allocation failed with register count of {register_limit}: file {file} needs {least} at one instruction"
    )]
    LimitNotMet {
        /// The file's name.
        file: Box<str>,
        /// Registers of the file.
        register_limit: u32,
        /// The least register limit that the engine can meet.
        least: u32,
    },
    /// A promotion to a class that is narrower, has another alignment, or belongs to another file.
    #[error("class {class}: promotes to {into}, which is no wider class of the same file and alignment")]
    Promotion {
        /// The class's name.
        class: Box<str>,
        /// The name of the class that it promotes to.
        into: Box<str>,
    },
    /// Segments that are empty or out of order.
    #[error("{range}: its segments are not sorted and disjoint")]
    Segments {
        /// The live range.
        range: LiveRange,
    },
    /// An access that is out of order, or at a point at which the live range is not live.
    #[error("{range}: an access at instruction {inst} is out of order, or the live range is not live there")]
    Access {
        /// The live range.
        range: LiveRange,
        /// The instruction.
        inst: u32,
    },
    /// A copy without the matching accesses of its live ranges.
    #[error("the copy at instruction {inst}: {to} is not written there, or {from} not read, or their files differ")]
    Copy {
        /// The instruction.
        inst: u32,
        /// The live range that is written.
        to: LiveRange,
        /// The live range that is read.
        from: LiveRange,
    },
    /// A lane that is not accessed, has no valid tuple, or does not fit into it.
    #[error("the lane at instruction {inst}: {member} is no member of the tuple {tuple} there")]
    Lane {
        /// The instruction.
        inst: u32,
        /// The tuple.
        tuple: LiveRange,
        /// The member.
        member: LiveRange,
    },
    /// A place that is impossible for a member of the class.
    #[error("{range}: fixed at unit {unit}, which is no place for class {class} within the register limit")]
    Place {
        /// The live range.
        range: LiveRange,
        /// First unit of the place.
        unit: u32,
        /// The class's name.
        class: Box<str>,
    },
    /// A part of a register that does not follow the other parts, has another class, or has a place from the start.
    #[error("{range}: is no part of {first}, or does not follow the other parts")]
    Part {
        /// The live range.
        range: LiveRange,
        /// The first part.
        first: LiveRange,
    },
    /// A link between live ranges that are not parts of one register, or to a point at which no segment starts.
    #[error("the link at point {}: {from} and {to} are no parts of one register, or {to} does not start there", .point.0)]
    Link {
        /// First point of the block that the link enters.
        point: Point,
        /// Part that is live after the link.
        to: LiveRange,
        /// Part that was live before the link.
        from: LiveRange,
    },
    /// A loop or crossing that cannot exist.
    #[error("loops: {problem}")]
    Loop {
        /// Description of the error.
        problem: Box<str>,
    },
    /// An invalid block. It does not follow the previous block, it has a successor that does not exist, or it is the
    /// last block and an access comes after it.
    #[error(
        "{block}: does not begin where the previous block ends, has an unknown successor, or leaves out instructions"
    )]
    Flow {
        /// The block.
        block: Block,
    },
    /// Two live ranges that are fixed at the same unit and live at the same time.
    #[error("{range} and {other}: both are fixed at unit {unit}, and live at the same time")]
    Contradiction {
        /// The first live range.
        range: LiveRange,
        /// The second live range.
        other: LiveRange,
        /// A unit that both hold.
        unit: u32,
    },
}

impl From<ProblemError> for Error {
    fn from(error: ProblemError) -> Self {
        let remedy = match error {
            ProblemError::LimitNotMet { least, .. } => {
                return Self::new(ErrorKind::Pass, error.to_string(), format!("raise the register limit to {least}"));
            }
            ProblemError::EmptyFile { .. } | ProblemError::TooWide { .. } => "raise the register limit",
            ProblemError::Place { .. } | ProblemError::Contradiction { .. } => "remove one of the demands",
            _ => "correct the problem",
        };
        Self::new(ErrorKind::Pass, error.to_string(), remedy)
    }
}

impl Problem {
    /// Checks that the problem is valid for allocators. O(segments · log segments).
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.validate_files_and_classes()?;
        let mut class_seen = vec![false; self.classes.len()];
        for range in self.ranges.ids() {
            let class = self.ranges[range].class;
            // A fixed live range may lie beyond the register limit, so its class need not fit into the file.
            let is_placed = self.ranges[range].fixed.is_some();
            if !is_placed && !std::mem::replace(&mut class_seen[class.0 as usize], true) {
                self.validate_width(range, class)?;
            }
            self.validate_range(range)?;
        }
        self.validate_copies()?;
        self.validate_lanes()?;
        self.validate_parts()?;
        self.validate_loops()?;
        self.validate_flow()?;
        self.validate_fixed()
    }

    fn validate_files_and_classes(&self) -> Result<(), ProblemError> {
        for file in self.files.iter() {
            if file.register_limit == Some(0) {
                return Err(ProblemError::EmptyFile { file: file.name.clone() });
            }
        }
        for (_, class) in self.classes.iter_enumerated() {
            if !(1..=WIDEST).contains(&class.width) || !(1..=WIDEST).contains(&class.align) {
                return Err(ProblemError::Shape { class: class.name.clone() });
            }
            if let Some(into) = class.promotes_to.map(|into| &self.classes[into])
                && !class.fits_into(into)
            {
                return Err(ProblemError::Promotion { class: class.name.clone(), into: into.name.clone() });
            }
        }
        Ok(())
    }

    fn validate_width(&self, range: LiveRange, class: Class) -> Result<(), ProblemError> {
        let class = &self.classes[class];
        let file = &self.files[class.file];
        match file.register_limit {
            Some(register_limit) if register_limit < class.width => Err(ProblemError::TooWide {
                range,
                class: class.name.clone(),
                file: file.name.clone(),
                width: class.width,
                register_limit,
            }),
            _ => Ok(()),
        }
    }

    fn validate_range(&self, range: LiveRange) -> Result<(), ProblemError> {
        let segments = self.segments(range);
        let is_sorted = segments.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !is_sorted || segments.iter().any(|segment| segment.start >= segment.end) {
            return Err(ProblemError::Segments { range });
        }
        let mut before = None;
        for access in self.accesses(range) {
            let points = access.segment();
            // At the early write of a register that the instruction also reads, the live range may only start after the
            // read.
            let at = if access.reads() { points.start } else { Point(points.end.0 - 1) };
            if before.is_some_and(|before| before > access.inst) || covering(segments, at).is_none() {
                return Err(ProblemError::Access { range, inst: access.inst.0 });
            }
            before = Some(access.inst);
        }
        if let Some(unit) = self.ranges[range].fixed {
            let class = self.class(range);
            // Calls also clobber units beyond the register limit.
            if !is_place(class, unit, u32::MAX) {
                return Err(ProblemError::Place { range, unit, class: class.name.clone() });
            }
        }
        Ok(())
    }

    fn validate_copies(&self) -> Result<(), ProblemError> {
        for &super::CopyInst { inst, to, from, .. } in &self.copies {
            let has = |range, wanted: fn(&super::Access) -> bool| self.accesses_at(range, inst).iter().any(wanted);
            let in_range = to.0 < self.ranges.len() as u32 && from.0 < self.ranges.len() as u32;
            let fits = in_range
                && has(to, super::Access::writes)
                && has(from, super::Access::reads)
                && self.file(to) == self.file(from);
            if !fits {
                return Err(ProblemError::Copy { inst: inst.0, to, from });
            }
        }
        Ok(())
    }

    /// Checks that no two live ranges are fixed at one unit at the same time, with a sweep over the fixed live ranges.
    fn validate_fixed(&self) -> Result<(), ProblemError> {
        let mut fixed: Vec<_> = Vec::new();
        for range in self.ranges.ids() {
            if let Some(unit) = self.ranges[range].fixed {
                let units = unit..unit + self.class(range).width;
                fixed.extend(
                    self.segments(range).iter().map(|segment| (segment.start, segment.end, range, units.clone())),
                );
            }
        }
        fixed.sort_unstable_by_key(|&(start, _, range, _)| (start, range));
        let mut live: Vec<(_, LiveRange, std::ops::Range<u32>)> = Vec::new();
        for (start, end, range, units) in fixed {
            live.retain(|&(end, ..)| end > start);
            let clash = live.iter().find(|(_, other, taken)| {
                *other != range
                    && self.file(*other) == self.file(range)
                    && taken.start < units.end
                    && units.start < taken.end
            });
            if let Some((_, other, taken)) = clash {
                return Err(ProblemError::Contradiction {
                    range: *other,
                    other: range,
                    unit: taken.start.max(units.start),
                });
            }
            live.push((end, range, units));
        }
        Ok(())
    }
}
