//! Tests of the PTX reader, views and edits.

mod editing;
mod numbering;
mod reading;
mod slicing;
mod unread;
mod viewing;

use super::Module;
use crate::function::EditList;

/// Returns a kernel with a body.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{{\n{body}\n}}\n"
    )
}

/// Prints the view of the only function of a file.
fn view(text: &str) -> String {
    let module = Module::read("a.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let view = module.view(&module.bodies()[0]).unwrap_or_else(|reason| panic!("{reason}\n{text}"));
    view.function.to_string()
}

/// Returns a file with edits, or the reason why they are impossible.
fn edited(text: &str, edits: &str) -> Result<String, String> {
    let module = Module::read("a.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let body = &module.bodies()[0];
    let view = module.view(body)?;
    let edits = EditList::parse(&format!("function \"k\"\n{edits}\nend\n"), &view.function).expect("edits");
    let mut edits = edits.expect("they are for the kernel");
    edits.finish();
    let patch = module.edit(body, &view, &edits).map_err(|reason| format!("{reason}\n{}", view.function))?;
    Ok(String::from_utf8(patch.apply(text.as_bytes())).expect("it was UTF-8"))
}
