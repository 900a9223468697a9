//! `nvptx-ra ptxas` beside ptxas: where nothing is improved, nobody can tell them apart. Tests that ask NVIDIA's programs
//! are skipped where these are not there, or with `PTXAS=skip` in the environment.

mod callers;
mod check;
mod doors;
mod few_runs;
mod invocations;
mod kernel_cache;
mod kernel_names;
mod later;
mod older_tools;
mod outcome;
mod processes;
mod progress_line;
mod releases;
mod relocatable;
mod search;
mod suspicion;

pub(crate) use self::search::spills;
