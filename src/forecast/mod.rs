//! The forecast: what ptxas will need for a kernel, before it runs.
//!
//! A room a stage, each of which uses only those before it:
//! 1. [`footprint`]: the 32-bit words that the hardware has to hold, of all that PTX's registers are made of;
//! 2. [`live`]: how many of them are live at once, in the order of the code and in orders that ptxas may make of it;
//! 3. [`model`]: what ptxas usually makes of that: regression trees, fitted to what it made of real kernels;
//! 4. [`kernel`]: a kernel with all that it calls: registers, spills, stack, occupancy, and the limit that suits it;
//! 5. [`report`]: how a forecast is told.

mod footprint;
mod kernel;
mod live;
mod model;
mod report;

pub use footprint::dead_code::without_dead_code;
pub use footprint::promotion::{Index, PromotionObstacle, UnpromotedVariable};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use kernel::estimate::forecast_by_name;
pub use kernel::estimate::{forecast, forecast_module};
pub use kernel::forecast::{Case, Forecast};
pub use kernel::separate_compilation::LinkConflict;
pub use kernel::slack::{MAX_SLACK, slack};
pub use kernel::summary::Summary;
pub use kernel::unknown_callees::{UnknownCall, UnknownCallee};
pub use live::curve::{Curve, MAX_STEPS};
pub use live::peak::{Holder, LiveValue, Peak};
pub use model::features::{Combination, FEATURES, Feature, Features};
pub use model::table::Model;
pub use model::trees::Values;
pub use report::figures::Figure;
pub use report::local_memory::LocalMemory;
