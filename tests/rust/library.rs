//! The tests of the library, in one test program. More test programs would each link the whole library.

mod ambient_state;
#[cfg(feature = "fuzzing")]
mod analysis;
mod classification;
mod cuda;
#[cfg(feature = "fuzzing")]
mod dimacs;
mod docs;
mod edits;
#[cfg(feature = "fuzzing")]
mod emulate;
mod golden;
mod layers;
mod live_ranges;
mod messages;
mod mutation;
mod occupancy;
mod ptx;
mod ptx_and_machine_code;
mod ptx_instructions;
#[cfg(feature = "fuzzing")]
mod random_programs;
mod register_limit;
mod sources;
#[cfg(feature = "fuzzing")]
mod threads;
