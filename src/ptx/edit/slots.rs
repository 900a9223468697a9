//! Slots that edits make: where they are, and how code gets there.
//!
//! Slots in local memory lie in one variable. Its address has a zero added that ptxas does not know, because ptxas would
//! take the slots back into registers (cpp-shim/ApplySpills.cpp). Slots in shared memory are parts of one array, a row for
//! each slot with a part for each thread; each thread computes the addresses of its parts once.

use super::begins_any_word;
use super::registers::Registers;
use crate::function::{BitPlace, Edit, EditList, RegClass, Role, SharedArray, Slot};
use crate::index::EntityIndex;
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::view::View;

/// Where a slot is.
#[derive(Clone, Debug)]
enum Place {
    /// So many bytes behind the start of the variable in local memory.
    Local(u64),
    /// So many bytes behind the thread's part of rows of so many bytes for each thread.
    Shared { offset: u32, row: u32 },
    /// A bit of one of the registers that hold predicates.
    Bit(BitPlace),
}

/// The slots of an edited function.
pub(super) struct Slots {
    /// The number of the first slot.
    first: usize,
    places: Vec<Place>,
    /// The variable in local memory: its name, bytes and alignment, and the register that holds its address.
    local: String,
    local_bytes: u64,
    local_align: u64,
    local_address: Option<String>,
    /// The array in shared memory and its name.
    array: Option<(String, SharedArray)>,
    /// The registers that hold the thread's addresses in rows of 2, 4, 8 and 16 bytes.
    addresses: [Option<String>; 4],
    /// The registers that hold predicates.
    words: Vec<String>,
    /// The registers in which the thread's number and parts of predicates' registers are computed.
    scratch: String,
    /// The dimensions of a block, where they are known.
    shape: Option<[u32; 3]>,
}

impl Slots {
    pub(super) fn new(
        file: &File<'_>,
        body: &Body,
        view: &View<'_>,
        edits: &EditList,
        registers: &mut Registers,
    ) -> Result<Self, String> {
        let free = |name: &str| {
            let mut free = name.to_owned();
            while begins_any_word(file, body, &free) {
                free.push('_');
            }
            free
        };
        let mut slots = Self {
            first: view.function.num_slots(),
            places: Vec::new(),
            local: free("nvptx_ra_local"),
            local_bytes: 0,
            local_align: 1,
            local_address: None,
            array: None,
            addresses: [const { None }; 4],
            words: Vec::new(),
            scratch: free("%nvptx_ra"),
            shape: shape(file, body),
        };
        for edit in edits.edits() {
            match *edit {
                Edit::CreateSlot { size, align, .. } => {
                    // An access is aligned to its size, which is at most the slot's.
                    let align = align.max(1 << size.max(1).ilog2().min(4));
                    let offset = slots.local_bytes.next_multiple_of(align);
                    slots.places.push(Place::Local(offset));
                    slots.local_bytes = offset + size;
                    slots.local_align = slots.local_align.max(align);
                    slots.local_address.get_or_insert_with(|| registers.create_with(file, body, RegClass::B32));
                }
                Edit::CreateSharedArray(array) => slots.array = Some((free("nvptx_ra_spills"), array)),
                Edit::CreateSharedSlot { offset, row, .. } => {
                    slots.places.push(Place::Shared { offset, row });
                    slots.addresses[number_of(row)]
                        .get_or_insert_with(|| registers.create_with(file, body, RegClass::B32));
                }
                Edit::CreateBitSlot { place, .. } => {
                    slots.places.push(Place::Bit(place));
                    while slots.words.len() <= place.word as usize {
                        slots.words.push(registers.create_with(file, body, RegClass::B32));
                    }
                }
                _ => {}
            }
        }
        Ok(slots)
    }

    /// The declarations of the variables.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        if self.local_bytes > 0 {
            text += &format!("\n\t.local .align {} .b8 \t{}[{}];", self.local_align, self.local, self.local_bytes);
        }
        if let Some((name, array)) = &self.array {
            let (align, bytes) = (array.alignment(), array.bytes);
            text += &format!("\n\t.shared .align {align} .b8 \t{name}[{bytes}];");
        }
        text
    }

    /// The code at the function's start: no predicate is set in the registers that hold them; and the addresses, that of the
    /// local variable, and those of the thread's parts, the array's own and the thread's number times the bytes of a row.
    pub(super) fn start(&self) -> String {
        let scratch = &self.scratch;
        let mut text: String = self.words.iter().map(|word| format!("\n\tmov.b32 {word}, 0;")).collect();
        if let Some(address) = &self.local_address {
            let local = &self.local;
            text += &format!(
                "\n\t{{ .reg .b32 {scratch}<2>;\n\tmov.u32 {scratch}0, %nctaid.z;\n\tshr.u32 {scratch}0, {scratch}0, 16;\
                 \n\tmov.u32 {scratch}1, {local};\n\tadd.u32 {address}, {scratch}1, {scratch}0;\n\t}}"
            );
        }
        let Some((array, _)) = self.array.as_ref().filter(|_| self.addresses.iter().any(Option::is_some)) else {
            return text;
        };
        text += &format!("\n\t{{ .reg .b32 {scratch}<4>;");
        self.thread_number(&mut text);
        text += &format!("\n\tmov.u32 {scratch}3, {array};");
        for (address, size) in self.addresses.iter().zip([2, 4, 8, 16]) {
            if let Some(address) = address {
                text += &format!("\n\tmad.lo.u32 {address}, {scratch}0, {size}, {scratch}3;");
            }
        }
        text + "\n\t}"
    }

    /// Computes the thread's number in its block into the first scratch register: (z * ysize + y) * xsize + x.
    fn thread_number(&self, text: &mut String) {
        let scratch = &self.scratch;
        let has_z = self.shape.is_none_or(|shape| shape[2] > 1);
        let has_y = has_z || self.shape.is_none_or(|shape| shape[1] > 1);
        let outermost = if has_z {
            'z'
        } else if has_y {
            'y'
        } else {
            'x'
        };
        *text += &format!("\n\tmov.u32 {scratch}0, %tid.{outermost};");
        for (dimension, name) in [(1, 'y'), (0, 'x')] {
            if !(if dimension == 1 { has_z } else { has_y }) {
                continue;
            }
            let size = match self.shape {
                Some(shape) => shape[dimension].to_string(),
                None => {
                    *text += &format!("\n\tmov.u32 {scratch}1, %ntid.{name};");
                    format!("{scratch}1")
                }
            };
            *text += &format!("\n\tmov.u32 {scratch}2, %tid.{name};");
            *text += &format!("\n\tmad.lo.u32 {scratch}0, {scratch}0, {size}, {scratch}2;");
        }
    }

    /// How an access to a slot begins behind `ld` or `st`, and its address.
    ///
    /// A volatile store is one that ptxas does not undo. Loads may move: ptxas finds a place where a register is free.
    pub(super) fn access(&self, slot: Slot, role: Role) -> Result<(&'static str, String), String> {
        let place = slot.index().checked_sub(self.first).and_then(|number| self.places.get(number));
        match place {
            Some(Place::Local(offset)) => {
                Ok((".local", format!("[{}+{offset}]", self.local_address.as_deref().unwrap_or_default())))
            }
            Some(Place::Shared { offset, row }) => {
                let address = self.addresses[number_of(*row)].as_deref().unwrap_or_default();
                let space = if role == Role::Spill { ".volatile.shared" } else { ".shared" };
                Ok((space, format!("[{address}+{offset}]")))
            }
            Some(Place::Bit(_)) => Err(format!("{slot} is in no memory")),
            None => Err(format!("{slot} is none of the slots that the edits make")),
        }
    }

    /// What sets the bit of a slot to a predicate, whose value may be known, or a predicate to the bit; `None` for a slot in memory.
    ///
    /// ptxas makes one instruction of two that change the same register.
    pub(super) fn bit_access(
        &self,
        slot: Slot,
        role: Role,
        (predicate, constant): (&str, Option<bool>),
    ) -> Option<String> {
        let number = slot.index().checked_sub(self.first)?;
        let Some(Place::Bit(place)) = self.places.get(number) else { return None };
        let (word, scratch, mask) = (self.words.get(place.word as usize)?, &self.scratch, place.mask());
        let code = match role {
            Role::Spill if constant == Some(true) => return Some(format!("or.b32 {word}, {word}, {mask};")),
            Role::Spill if constant == Some(false) => return Some(format!("and.b32 {word}, {word}, {};", !mask)),
            Role::Spill => {
                let others = !mask;
                format!(
                    "selp.b32 {scratch}0, {mask}, 0, {predicate};\n\tand.b32 {scratch}1, {word}, {others};\n\t\
                     or.b32 {word}, {scratch}1, {scratch}0;"
                )
            }
            _ => format!("and.b32 {scratch}0, {word}, {mask};\n\tsetp.ne.s32 {predicate}, {scratch}0, 0;"),
        };
        Some(format!("{{ .reg .b32 {scratch}<2>;\n\t{code}\n\t}}"))
    }
}

/// Which of the addresses is that of rows with so many bytes: 2, 4, 8 or 16.
fn number_of(row: u32) -> usize {
    (row.ilog2() as usize).saturating_sub(1).min(3)
}

/// The dimensions that every block of a kernel has, where `.reqntid` proves them.
fn shape(file: &File<'_>, body: &Body) -> Option<[u32; 3]> {
    let text = file.text();
    let required = body.parts.directives.iter().find(|directive| text.of(directive.word) == b".reqntid")?;
    let mut shape = [1; 3];
    for (size, &(_, value)) in shape.iter_mut().zip(&required.values) {
        *size = text.str(value).parse().ok().filter(|&size: &u32| size > 0)?;
    }
    Some(shape)
}
