//! A PTX module, with all results that the PTX allows.

use std::cell::OnceCell;
use std::sync::Arc;

use nvptx_ra::emulate::{Program, all_fused, approximates};
use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;

/// A PTX module.
pub(crate) struct Text {
    pub(crate) program: Arc<Program>,
    bytes: Vec<u8>,
    /// The module with its products fused. It is computed when a difference requires it.
    fused: OnceCell<Vec<Program>>,
    /// Whether some results are only specified up to an error.
    pub(super) approximates: bool,
    /// The processor that the PTX specifies.
    pub(crate) cpu: String,
}

impl Text {
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::of(&Module::read(name, bytes)?))
    }

    pub(crate) fn of(module: &Module<'_>) -> Self {
        Self {
            program: Arc::new(Program::new(module)),
            bytes: module.file().text().bytes().to_vec(),
            fused: OnceCell::new(),
            approximates: approximates(module),
            cpu: module.target().to_owned(),
        }
    }

    /// Returns the other valid readings of the PTX, in which products are fused.
    pub(super) fn fused(&self) -> Result<&[Program], Error> {
        if let Some(fused) = self.fused.get() {
            return Ok(fused);
        }
        let read = |text: &Vec<u8>| Ok(Program::new(&Module::read("fused.ptx", text)?));
        let texts = all_fused(&Module::read("fused.ptx", &self.bytes)?);
        let fused: Result<Vec<Program>, Error> = texts.iter().map(read).collect();
        let fused = fused?;
        Ok(self.fused.get_or_init(|| fused))
    }
}
