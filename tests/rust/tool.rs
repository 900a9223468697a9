//! The tests of the command-line tool, in one program. Each test runs `nvptx-ra` as a user would.

mod check_ptxas;
mod compare;
mod cuda;
mod decode;
mod diff_ptxas;
mod judge;
mod machine_code;
mod ptxas_faults;
mod ptxas_wrapper;
mod report_ptx;
mod report_sass;
mod time;
mod tune_instances;
mod tune_progress;
mod tune_ptx;
