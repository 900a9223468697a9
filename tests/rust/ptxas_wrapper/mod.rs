//! Compares `nvptx-ra ptxas` with ptxas: without an improvement, both behave the same. Tests that need NVIDIA's
//! programs are skipped if the programs are missing, or with `PTXAS=skip` in the environment.

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
