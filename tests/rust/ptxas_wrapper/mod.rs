//! `nvptx-ra ptxas` next to ptxas: if nothing is improved, the two cannot be told apart. Tests that need NVIDIA's
//! programs are skipped if these are missing, or with `PTXAS=skip` in the environment.

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
