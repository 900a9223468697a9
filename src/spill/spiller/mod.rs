//! The price list: of the values that could be moved out of the way, those that free the highest pressure for the lowest cost.
//!
//! Where more words are live than there are registers, a value goes to memory behind its definition, or is dropped, and comes
//! back in front of the reads that follow. In the order of the files:
//! * [`callees`]: which functions of a module have shared memory;
//! * [`forbidden`]: what in their code, or a kernel's, would meet slots;
//! * [`mod@slot_memory`]: how much shared memory a kernel may take, and why it may take none;
//! * [`facts`]: what is known of the function;
//! * [`goal`]: what values are chosen for, and by which means;
//! * [`eligible`]: which values can be moved at all; [`partly_undefined`]: those that some path leaves undefined;
//! * [`trials`]: choices of values with more and more means, of which the best is kept;
//! * [`reload_groups`]: the reads that each of ptxas's own loads of a value serves;
//! * [`selection`]: a choice, of those values that free the highest pressure for the lowest cost;
//! * [`high_pressure`]: the instructions with more words live than there is room for;
//! * [`location_costs`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * [`sink`]: the places further down where a value may be stored once for all of its definitions.

mod callees;
mod eligible;
mod facts;
mod forbidden;
mod goal;
mod high_pressure;
pub(in crate::spill) mod location_costs;
mod partly_undefined;
mod reload_groups;
pub(in crate::spill) mod selection;
mod sink;
pub(in crate::spill) mod slot_memory;
pub(in crate::spill) mod slots;
pub(in crate::spill) mod trials;

pub use callees::{Call, CalleeMemory, CalleeTable};
pub(in crate::spill) use eligible::Candidate;
pub use facts::Facts;
pub use forbidden::Forbidden;
pub use goal::{Permissions, PtxasSpill, SpillGoal};
pub use slot_memory::{Launch, Refusal, bounds};
pub use slots::{Bytes, FRAME_LIMIT, own_frame};
pub use trials::{Score, Trial};
