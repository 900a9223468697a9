//! The PTX of slots that edits create: the names of their arrays and of their address registers.
//!
//! The layout of slots and the accesses to them are in [`spill::lower`](crate::spill::lower), which the LLVM plugin
//! uses, too.

use std::collections::BTreeMap;

use super::begins_any_word;
use super::registers::Registers;
use crate::function::{EditList, MachineOp, MemorySpace, RegClass, Role, Slot};
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::view::View;
use crate::spill::lower::addresses::{declaration, local_address, shared_addresses};
use crate::spill::lower::block_shape;
use crate::spill::lower::places::{AddressOf, Place, Places};
use crate::spill::lower::steps::{Access, Arg, Step};
use crate::spill::lower::table::ptx_name;

/// The slots of an edited function.
pub(super) struct Slots {
    places: Places,
    /// The names of the arrays in local and shared memory.
    local: String,
    shared: String,
    /// The registers that hold addresses.
    addresses: BTreeMap<AddressOf, String>,
    /// The registers that hold spilled predicates.
    words: Vec<String>,
    /// The prefix of the registers in which the thread index and parts of predicate registers are computed.
    scratch: String,
    /// The dimensions of a block, if known.
    shape: Option<[u32; 3]>,
}

impl Slots {
    pub(super) fn new(
        file: &File<'_>,
        body: &Body,
        view: &View<'_>,
        edits: &EditList,
        registers: &mut Registers,
    ) -> Self {
        let free = |name: &str| {
            let mut free = name.to_owned();
            while begins_any_word(file, body, &free) {
                free.push('_');
            }
            free
        };
        let places = Places::new(view.function.num_slots(), edits);
        let (mut addresses, mut words) = (BTreeMap::new(), Vec::new());
        for place in places.all() {
            let mut create = || registers.create_with(file, body, RegClass::B32);
            match place {
                Place::Local(_) => _ = addresses.entry(AddressOf::Local).or_insert_with(create),
                Place::Shared { row, .. } => _ = addresses.entry(AddressOf::Row(row)).or_insert_with(create),
                Place::Bit(place) => {
                    while words.len() <= place.word as usize {
                        words.push(create());
                    }
                }
            }
        }
        Self {
            local: free("nvptx_ra_local"),
            shared: if places.array.is_some() { free("nvptx_ra_spills") } else { String::new() },
            places,
            addresses,
            words,
            scratch: free("%nvptx_ra"),
            shape: shape(file, body),
        }
    }

    /// Returns the declarations of the arrays.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        let mut declare = |space, align, name: &str, bytes| {
            text += &format!("\n\t{}", declaration(space, align, &format!("\t{name}"), bytes));
        };
        if self.places.local_bytes > 0 {
            declare("local", self.places.local_align, &self.local, self.places.local_bytes);
        }
        if let Some(array) = &self.places.array {
            declare("shared", array.alignment().into(), &self.shared, array.bytes.into());
        }
        text
    }

    /// Returns the code at the start of the function. It clears the registers for predicates and computes the
    /// addresses.
    pub(super) fn start(&self) -> String {
        let clear = ptx_name(MachineOp::Clear).unwrap_or_default();
        let mut lines: Vec<String> = self.words.iter().map(|word| format!("{clear} {word}, 0;")).collect();
        if let Some(address) = self.addresses.get(&AddressOf::Local) {
            lines.extend(local_address(&self.scratch, &self.local, address));
        }
        let rows = self.addresses.iter().filter_map(|(of, address)| match of {
            AddressOf::Row(row) => Some((*row, address.as_str())),
            AddressOf::Local => None,
        });
        let rows: Vec<(u32, &str)> = rows.collect();
        if self.places.array.is_some() && !rows.is_empty() {
            lines.extend(shared_addresses(&self.scratch, &self.shared, self.shape, rows));
        }
        lines.iter().map(|line| format!("\n\t{line}")).collect()
    }

    /// Returns the place of a slot.
    pub(super) fn place(&self, slot: Slot) -> Result<Place, String> {
        self.places.of(slot).ok_or_else(|| format!("{slot} is not a new slot of the edits"))
    }

    /// Returns the PTX of an access to a slot, with the given register names.
    pub(super) fn access(&self, access: &Access, registers: &[&str]) -> Result<String, String> {
        let steps = access.steps(false);
        let is_of_memory = !matches!(access.place, Place::Bit(_));
        if is_of_memory && access.registers.class == RegClass::B1 {
            return Err("PTX has no slots in memory for predicates".into());
        }
        let lines: Result<Vec<String>, String> =
            steps.iter().map(|step| self.line(step, access.role, registers)).collect();
        let lines = lines?.join("\n\t");
        let has_parts = steps.iter().flat_map(|step| &step.args).any(|arg| matches!(arg, Arg::Part(_)));
        let scratch = &self.scratch;
        Ok(if has_parts { format!("{{ .reg .b32 {scratch}<2>;\n\t{lines}\n\t}}") } else { lines })
    }

    fn line(&self, step: &Step, role: Role, registers: &[&str]) -> Result<String, String> {
        let unknown = || format!("{:?} cannot be written in PTX", step.op);
        let args: Option<Vec<String>> = step.args.iter().map(|&arg| self.arg(arg, registers)).collect();
        let (name, args) = (ptx_name(step.op).ok_or_else(unknown)?, args.ok_or_else(unknown)?);
        let (Some(memory), [moved @ .., address, offset]) = (step.memory, &args[..]) else {
            return Ok(format!("{name} {};", args.join(", ")));
        };
        let value = moved.join(", ");
        let value = if let [_] = moved { value } else { format!("{{{value}}}") };
        let volatile = if memory.is_volatile { ".volatile" } else { "" };
        let space = if memory.space == MemorySpace::Shared { "shared" } else { "local" };
        Ok(match role {
            Role::Spill => format!("st{volatile}.{space}.{name} [{address}+{offset}], {value};"),
            _ => format!("ld{volatile}.{space}.{name} {value}, [{address}+{offset}];"),
        })
    }

    fn arg(&self, arg: Arg, registers: &[&str]) -> Option<String> {
        match arg {
            Arg::Register(number) => registers.get(number).map(|&name| name.to_owned()),
            Arg::Part(number) => Some(format!("{}{number}", self.scratch)),
            Arg::Word(number) => self.words.get(number as usize).cloned(),
            Arg::Address(of) => self.addresses.get(&of).cloned(),
            Arg::Number(number) => Some(number.to_string()),
        }
    }
}

/// Returns the dimensions of every block of a kernel, if `.reqntid` fixes them.
fn shape(file: &File<'_>, body: &Body) -> Option<[u32; 3]> {
    let text = file.text();
    let required = body.parts.directives.iter().find(|directive| text.of(directive.word) == b".reqntid")?;
    block_shape(required.values.iter().map(|&(_, value)| text.str(value)))
}
