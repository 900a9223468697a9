//! The forecast: registers and spills of a kernel, computed before ptxas runs.
//!
//! Each stage uses only the stages before it:
//! 1. [`footprint`]: the 32-bit words of PTX's registers that occupy a hardware register;
//! 2. [`live`]: the words that are live at once, in the order of the code and in orders that ptxas may choose;
//! 3. [`model`]: regression trees, fitted to the registers and spills of real kernels;
//! 4. [`kernel`]: a kernel with its callees: registers, spills, stack, occupancy, and the limit that suits it;
//! 5. [`report`]: a forecast as text and as figures.

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
