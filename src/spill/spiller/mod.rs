//! The price list: of the values that could be moved out of the way, those that free the highest pressure for the lowest cost.
//!
//! Where more words are live than there are registers, a value goes to memory behind its definition, or is dropped, and comes
//! back in front of the reads that follow. In the order of the files:
//! * [`callees`]: which functions of a module have shared memory;
//! * [`forbidden`]: what in their code, or a kernel's, would meet slots;
//! * [`mod@room`]: how much shared memory a kernel may take, and why it may take none;
//! * [`facts`]: what is known of the function;
//! * [`aim`]: what values are chosen for, and by which means;
//! * [`eligible`]: which values can be moved at all; [`reached`]: those that some path leaves undefined;
//! * [`trials`]: choices of values with more and more means, of which the best is kept;
//! * [`served`]: the reads that each of ptxas's own loads of a value serves;
//! * [`choice`]: a choice, of those values that free the highest pressure for the lowest cost;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`places`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * [`sink`]: the places further down where a value may be stored once for all of its definitions.

mod aim;
mod callees;
pub(in crate::spill) mod choice;
mod eligible;
mod facts;
mod forbidden;
mod full;
pub(in crate::spill) mod places;
mod reached;
pub(in crate::spill) mod room;
mod served;
mod sink;
pub(in crate::spill) mod slots;
pub(in crate::spill) mod trials;

pub use aim::{Aim, Means, Paid};
pub use callees::{Call, CalleeMemory, CalleeTable};
pub(in crate::spill) use eligible::Candidate;
pub use facts::Facts;
pub use forbidden::Forbidden;
pub use room::{Launch, Refusal, bounds};
pub use slots::{Bytes, FRAME_LIMIT, own_frame};
pub use trials::{Score, Trial};
