//! How many bytes a function spills: by ptxas's own figures, or by ptxas's marks in machine code.
//!
//! The marks describe the code. They differ from `ptxas -v` in three cases:
//!
//! * A function that follows the calling convention saves registers for its caller: ptxas counts these bytes, and does
//!   not mark them.
//! * In a few kernels, ptxas marks some accesses that it does not count.
//! * A cubin has space for fewer than [`MARKS`] marks: the table's length has 16 bits, and each mark has 8 bytes.

use nvptx_ra::tune::ptxas_output::PtxasReport;

use super::local::Local;

/// With this number of marks, the length of their table overflows. ptxas then omits a multiple of this number.
const MARKS: usize = 8192;

/// The first release of CUDA, times ten, whose ptxas is known to mark spills.
const FIRST_RELEASE: u32 = 128;

/// Source of spill figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum SpillSource {
    /// ptxas's own figures.
    Ptxas,
    /// ptxas's marks of accesses.
    Marks,
    /// All accesses at fixed offsets from the stack pointer. Spills and arrays are not distinguished.
    FixedPlaces,
}

impl SpillSource {
    /// Returns the source with a JSON name.
    pub(in super::super) fn by_name(name: &str) -> Option<Self> {
        [Self::Ptxas, Self::Marks, Self::FixedPlaces].into_iter().find(|source| source.name() == name)
    }

    /// Returns its name in JSON.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::Marks => "marks",
            Self::FixedPlaces => "fixed-places",
        }
    }
}

/// Bytes that the code stores to and loads from spill slots, for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct SpillBytes {
    pub(in super::super) stored: u32,
    pub(in super::super) loaded: u32,
    /// Bytes that are known to be spills. Less than the sum of both numbers only for [`SpillSource::FixedPlaces`].
    pub(in super::super) least: u32,
    pub(in super::super) source: SpillSource,
}

impl SpillBytes {
    /// Computes the spills of a function; `release` is the release of CUDA that compiled it.
    pub(super) fn of(ptxas_report: Option<PtxasReport>, local: &Local, release: Option<u32>) -> Self {
        let of = |stored, loaded, source| Self { stored, loaded, least: stored + loaded, source };
        if let Some(ptxas_report) = ptxas_report {
            return of(ptxas_report.spill_store_bytes, ptxas_report.spill_load_bytes, SpillSource::Ptxas);
        }
        let marks = of(local.marked_stored, local.marked_loaded, SpillSource::Marks);
        let is_marked = marks.least > 0 || release.is_some_and(|release| release >= FIRST_RELEASE);
        if is_marked && local.at_fixed_places < MARKS || local.at_fixed_places == 0 {
            return marks;
        }
        let most = of(local.fixed_stored, local.fixed_loaded, SpillSource::FixedPlaces);
        Self { least: marks.least, ..most }
    }

    /// Returns the bytes stored and loaded: an upper bound of the spills.
    pub(in super::super) fn most(self) -> u32 {
        self.stored + self.loaded
    }

    /// Returns the bytes stored and loaded; `None` if spills cannot be distinguished from other accesses.
    pub(in super::super) fn known(self) -> Option<u32> {
        (self.source != SpillSource::FixedPlaces).then(|| self.most())
    }
}

/// Formats the bytes for a table: `≤ 24` for an upper bound.
impl std::fmt::Display for SpillBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.most();
        f.pad(&self.known().map_or_else(|| format!("≤ {bytes}"), |bytes| bytes.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ptxas's figures take precedence over its marks. Without marks, the result is an upper bound if ptxas may not
    /// mark spills, or if a cubin has no space for all marks.
    #[test]
    fn sources() {
        let ptxas_report = Some(PtxasReport { spill_store_bytes: 8, spill_load_bytes: 12, ..PtxasReport::default() });
        let array = Local { fixed_stored: 4, fixed_loaded: 16, at_fixed_places: 5, ..Local::default() };
        let marked = Local { marked_stored: 4, marked_loaded: 8, ..array.clone() };
        let many = |local: &Local| Local { at_fixed_places: MARKS, ..local.clone() };
        let none = Local::default();
        let cases = [
            (ptxas_report, &marked, None, SpillSource::Ptxas, "20", 20),
            (None, &marked, None, SpillSource::Marks, "12", 12),
            (None, &array, Some(128), SpillSource::Marks, "0", 0),
            (None, &array, Some(118), SpillSource::FixedPlaces, "≤ 20", 0),
            (None, &array, None, SpillSource::FixedPlaces, "≤ 20", 0),
            (None, &many(&marked), Some(130), SpillSource::FixedPlaces, "≤ 20", 12),
            (None, &none, None, SpillSource::Marks, "0", 0),
        ];
        for (ptxas_report, local, release, source, text, least) in cases {
            let spills = SpillBytes::of(ptxas_report, local, release);
            assert_eq!(
                (spills.source, spills.to_string().as_str(), spills.least),
                (source, text, least),
                "{release:?}"
            );
            assert_eq!(spills.known().is_none(), source == SpillSource::FixedPlaces);
        }
    }
}
