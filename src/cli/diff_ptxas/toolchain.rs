//! The two ptxas to compare.

use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};

use crate::releases;

/// A ptxas, and its name in messages.
pub(super) struct Toolchain {
    pub(super) name: String,
    pub(super) ptxas: PathBuf,
}

/// Returns the old and the new ptxas: releases first, then programs.
pub(super) fn both(named: &[String], programs: &[PathBuf], may_download: bool) -> Result<[Toolchain; 2], Error> {
    let count = named.len() + programs.len();
    if count != 2 {
        let problem = format!("two ptxas are compared, and {count} are given");
        return Err(Error::new(ErrorKind::Option, problem, "give --release 12.8,13.5, or --ptxas OLD --ptxas NEW"));
    }
    let of_releases = named.iter().map(|release| releases::ptxas(release, may_download));
    let of_programs = programs.iter().map(|path| {
        let given = path.canonicalize().map_err(|error| Error::file(path, &error));
        given.map(|_| path.clone())
    });
    let mut all = Vec::new();
    for ptxas in of_releases.chain(of_programs) {
        let ptxas = ptxas?;
        let name = releases::number_of(&ptxas).unwrap_or_else(|| path_of(&ptxas));
        all.push(Toolchain { name, ptxas });
    }
    let both: Result<[Toolchain; 2], _> = all.try_into();
    let mut both = both.map_err(|_| Error::internal("two ptxas are needed", None))?;
    if both[0].name == both[1].name {
        both.iter_mut().for_each(|one| one.name = path_of(&one.ptxas));
    }
    Ok(both)
}

fn path_of(ptxas: &Path) -> String {
    ptxas.to_string_lossy().into_owned()
}
