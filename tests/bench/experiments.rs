//! Writes the experiments that run as PTX and as machine code: files of PTX, and a list of them as JSON.
//!
//!     experiments FOLDER SEED

use std::error::Error;
use std::path::Path;

use nvptx_ra::fuzzing::experiments;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed] = arguments.as_slice() else { return Err("experiments FOLDER SEED".into()) };
    std::fs::create_dir_all(folder)?;
    let all = experiments(seed.parse()?);
    for experiment in &all {
        std::fs::write(Path::new(folder).join(format!("{}.ptx", experiment.name)), &experiment.text)?;
    }
    let entry = |one: &nvptx_ra::fuzzing::Experiment| {
        json!({
            "name": one.name, "processor": one.processor, "specific": one.is_specific, "exact": one.is_exact
        })
    };
    println!("{}", json!(all.iter().map(entry).collect::<Vec<_>>()));
    Ok(())
}
