//! The cost model: spills the values that free the most high-pressure points at the lowest cost.
//!
//! If more words are live than the register limit allows, a value is either stored to memory after its definition and
//! reloaded before its later reads, or rematerialised before them. In the order of the files:
//! * [`callees`]: the functions of a module that have shared memory;
//! * [`forbidden`]: code of a kernel, or of its callees, that could access slots;
//! * [`mod@slot_memory`]: how much shared memory a kernel may take, and why it may take none;
//! * [`facts`]: analyses of the function;
//! * [`goal`]: goals and limits of a spilling attempt;
//! * [`eligible`]: values that can be spilled at all; [`partly_undefined`]: values that some path leaves undefined;
//! * [`trials`]: selections with more and more means, of which the best is used;
//! * [`reload_groups`]: the reads that each of ptxas's own loads of a value serves;
//! * [`selection`]: a selection of values by cost and by the points that they free;
//! * [`high_pressure`]: the instructions at which more words are live than the limit;
//! * [`location_costs`]: the cost of each location for a value, and the cheapest location;
//! * [`slots`]: slots that values share if they are never live together, and their layout;
//! * [`sink`]: places further down at which a value may be stored once for all of its definitions.

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
