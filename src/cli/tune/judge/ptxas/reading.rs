//! Reading machine code, by this project's own reader or by NVIDIA's disassembler.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nvptx_ra::tune::ptxas_output::{Sass, Spills};
use nvptx_ra::tune::question::NoAnswer;

use super::{Files, Inspection, Ptxas};
use crate::machine::spills::spills;
use crate::machine::{disassembler, listing, machine_code};
use crate::ptxas::PtxasReports;
use crate::ptxas_run::crash;
use crate::tune::process::{self, Limit};

/// The description in messages of machine code that is inspected for spills.
const SPILLS: &str = "what ptxas spills";

impl Ptxas {
    /// Counts the instructions of each function of a file.
    pub(super) fn code(
        &self,
        files: &Files,
        cubin: &[u8],
        limit: Duration,
        inspection: Inspection,
        reported: &PtxasReports,
    ) -> Result<BTreeMap<String, Sass>, NoAnswer> {
        let own = machine_code::read(cubin).unwrap_or_default();
        let is_own_enough = match inspection {
            Inspection::Disassembler => false,
            Inspection::DisassemblerIfStack => {
                reported.values().all(|ptxas_report| ptxas_report.total_stack_bytes == 0)
            }
            Inspection::OwnReader | Inspection::Spills => true,
        };
        let has_read_well = self.has_compared.load(Ordering::Relaxed) && self.reads_well.load(Ordering::Relaxed);
        // During a build, the disassembler does not read code for which tests have compared both readers.
        let is_compared = self.known.is_some() && machine_code::is_compared(cubin);
        if is_own_enough && has_read_well || is_compared || !self.disassembles {
            return Ok(own);
        }
        self.disassemble(&files.cubin, &files.listing, limit, &own)
    }

    /// Runs the disassembler on a file, and compares its result with the own reader's.
    fn disassemble(
        &self,
        cubin: &Path,
        listing: &Path,
        limit: Duration,
        own: &BTreeMap<String, Sass>,
    ) -> Result<BTreeMap<String, Sass>, NoAnswer> {
        let mut disassembler = Command::new(&self.tools.cuobjdump);
        disassembler.arg("-sass").arg(cubin);
        let finished = process::run(disassembler, listing, listing, Limit::Computed(limit));
        let status = finished.map_err(|failure| self.lost("cuobjdump", &failure))?.status;
        if !status.success() {
            let refused = || "cuobjdump: the output of ptxas is refused; use both from the same CUDA toolkit".into();
            return Err(NoAnswer::Refused(crash("cuobjdump", status).unwrap_or_else(refused)));
        }
        let listing = fs::read(listing).map_err(|error| self.failed(&"cuobjdump", &error))?;
        let code = listing::read(&String::from_utf8_lossy(&listing));
        if let Some((name, sass)) = code.iter().find(|(name, sass)| own.get(*name) != Some(sass)) {
            self.reads_well.store(false, Ordering::Relaxed);
            log::debug!("{name}: the disassembler counts {sass:?}, the own reader {:?}", own.get(name));
        }
        self.has_compared.store(true, Ordering::Relaxed);
        Ok(code)
    }

    /// Returns the spills of each function of machine code with source lines. Empty without a disassembler. `bytes` is
    /// the file's contents.
    pub(super) fn spills(&self, cubin: &Path, bytes: &[u8]) -> BTreeMap<String, Spills> {
        let nvdisasm = &self.tools.nvdisasm;
        let code = machine_code::instructions(bytes).unwrap_or_default();
        let mut found = BTreeMap::new();
        let asked = disassembler::source_lines(nvdisasm, cubin, &[], SPILLS).and_then(|lines| {
            disassembler::life_ranges(nvdisasm, cubin, &[], SPILLS, |table| {
                let code = code.get(&table.name).map_or(&[][..], Vec::as_slice);
                found.insert(table.name.clone(), spills(&table, &lines, code));
            })
        });
        if let Err(error) = asked {
            log::debug!("{error}");
        }
        found
    }
}
