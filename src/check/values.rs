//! Value numbering within blocks: the value of each operand, and the content of each location at a block's end. Both
//! are expressed by the results of the block's instructions and the contents at the block's entry.

use super::computation::{Computation, Division, computation};
use super::ids::Location;
use super::pair::{Pair, Which};
use super::terms::{Application, Operation, Terms, Value};
use crate::function::{self, Block, Function, Inst, Origin, RegClass, Role, Slot, VReg};
use crate::index::{EntityIndex, IndexVec};

/// The values of one function.
pub(super) struct LocalValues<'a> {
    pair: &'a Pair<'a>,
    which: Which,
    /// For each operand of the function, the value that it reads. Operands of PHIs have no value here, because they are
    /// read in predecessors.
    operands: Vec<Value>,
    /// For each block, the start of its part of `ends`; one entry more than blocks.
    end_start: Vec<u32>,
    /// The contents at a block's end of the locations that are written in the block, sorted.
    ends: Vec<(Location, Value)>,
}

/// Locations of one slot: one for each class that may be stored in it.
const LOCATIONS_PER_SLOT: usize = RegClass::ALL.len();

/// Returns the location of a register.
pub(super) fn reg_location(reg: VReg) -> Location {
    Location::new(reg.index())
}

/// Returns the location that holds the last result of one of the [carried](Pair::carried) instructions. Only values of
/// the view have such locations, and no other instruction writes them.
fn carried_location(pair: &Pair<'_>, number: usize) -> Location {
    let function = pair.after.function;
    Location::new(function.num_regs() + function.num_slots() * LOCATIONS_PER_SLOT + number)
}

/// Returns the location of a slot that holds a register of a class.
fn slot_location(function: &Function, slot: Slot, class: RegClass) -> Location {
    let number = RegClass::ALL.iter().position(|&other| other == class).unwrap_or(0);
    Location::new(function.num_regs() + slot.index() * LOCATIONS_PER_SLOT + number)
}

impl<'a> LocalValues<'a> {
    /// Numbers the values of a function in one pass over its instructions. O(size + definitions · log definitions).
    pub(super) fn new(pair: &'a Pair<'a>, which: Which, terms: &mut Terms) -> Self {
        let function = pair.side(which).function;
        let values = Self {
            pair,
            which,
            operands: Vec::with_capacity(function.operands.len()),
            end_start: vec![0],
            ends: Vec::new(),
        };
        let locations = carried_location(pair, pair.carried.len()).index();
        let numbering = Numbering { values, current: IndexVec::filled(None, locations), written: Vec::new() };
        numbering.run(function, terms)
    }

    /// Returns the value that a register operand reads.
    pub(super) fn read(&self, inst: Inst, operand: u32) -> Value {
        self.operands[(self.function().operand_start[inst.index()] + operand) as usize]
    }

    /// Returns the content of a location at the end of a block.
    pub(super) fn at_end(&self, block: Block, location: Location) -> Value {
        let Some(&end) = self.end_start.get(block.index() + 1) else {
            return Value::Entry(location);
        };
        let ends = &self.ends[self.end_start[block.index()] as usize..end as usize];
        match ends.binary_search_by_key(&location, |&(location, _)| location) {
            Ok(index) => ends[index].1,
            Err(_) => Value::Entry(location),
        }
    }

    /// Returns the last result, at a block's entry, of an instruction of the view that has a copy in another block.
    /// `None` for other instructions.
    pub(super) fn carried(&self, inst: Inst) -> Option<Value> {
        let number = self.pair.carried.binary_search(&inst).ok()?;
        Some(Value::Entry(carried_location(self.pair, number)))
    }

    /// Whether a location holds the last result of a carried instruction.
    pub(super) fn is_carried(&self, location: Location) -> bool {
        location >= carried_location(self.pair, 0)
    }

    /// Returns the value that an instruction without a role defines in an operand, as a value of the instruction's
    /// block.
    pub(super) fn result(&self, inst: Inst, operand: u32) -> Value {
        match self.pair.kept_in_place(self.which, inst) {
            Some(original) => Value::Kept(original, operand),
            None => Value::Own(inst, operand),
        }
    }

    pub(super) fn function(&self) -> &'a Function {
        self.pair.side(self.which).function
    }

    /// Returns the instruction and the operand, in this function, that define a value.
    pub(super) fn definition(&self, value: Value) -> Option<(Inst, u32)> {
        match value {
            Value::Own(inst, operand) => Some((inst, operand)),
            Value::Kept(inst, operand) if self.which == Which::Before => Some((inst, operand)),
            Value::Kept(inst, operand) => Some((self.pair.before.partner[inst]?, operand)),
            _ => None,
        }
    }

    /// Returns the operation that computes a value, for results of pure instructions and for terms. `None` for other
    /// values.
    pub(super) fn application(&self, terms: &mut Terms, value: Value) -> Option<Application> {
        if let Value::Term(id) = value {
            return Some(terms.get_term(id).clone());
        }
        let (inst, operand) = self.definition(value)?;
        if !self.pair.side(self.which).pure[inst] {
            return None;
        }
        match computation(self.function(), inst, operand) {
            Computation::Phi => None,
            Computation::Pack(_) | Computation::Part { .. } => self.division(terms, value),
            _ => Some((terms.skeleton(self.function(), inst, operand), self.reads(inst))),
        }
    }

    /// Returns the operation that computes a value, if the operation packs or unpacks a register.
    fn division(&self, terms: &Terms, value: Value) -> Option<Application> {
        if let Value::Term(id) = value {
            return Some(terms.get_term(id).clone()).filter(|(operation, _)| !matches!(operation, Operation::Other(_)));
        }
        let (inst, operand) = self.definition(value)?;
        match computation(self.function(), inst, operand) {
            Computation::Pack(of) => Some((Operation::Pack(of), self.reads(inst))),
            Computation::Part { index, of, source } => {
                Some((Operation::Part { index, of }, vec![self.read(inst, source)]))
            }
            _ => None,
        }
    }

    /// Returns the values that an instruction's register operands read, in order.
    fn reads(&self, inst: Inst) -> Vec<Value> {
        let operands = self.function().operands(inst).iter().zip(0..);
        operands
            .filter(|(operand, _)| operand.read_reg().is_some())
            .map(|(_, number)| self.read(inst, number))
            .collect()
    }

    /// Simplifies an operation to an existing value: a part of a value that was just packed, or a pack of all parts of
    /// one value. `None` if it cannot be simplified.
    fn reduce(&self, terms: &Terms, operation: Operation, args: &[Value]) -> Option<Value> {
        if operation_is_division(operation) && args.iter().all(|&arg| arg == Value::Undefined) {
            return Some(Value::Undefined);
        }
        match operation {
            Operation::Other(_) => None,
            Operation::Part { index, of } => match self.division(terms, *args.first()?)? {
                (Operation::Pack(packed), parts) if packed == of => parts.get(usize::from(index)).copied(),
                _ => None,
            },
            Operation::Pack(_) if args.contains(&Value::Undefined) => None,
            Operation::Pack(of) => self.whole_of(terms, of, args),
        }
    }

    /// Returns the value whose parts are the given values, each at its position. An undefined value may be any part.
    pub(super) fn whole_of(&self, terms: &Terms, division: Division, parts: &[Value]) -> Option<Value> {
        let defined = parts.iter().enumerate().filter(|&(_, &part)| part != Value::Undefined);
        let mut wholes = defined.map(|(index, &part)| self.part_of(terms, part, index, division));
        let first = wholes.next()??;
        wholes.all(|whole| whole == Some(first)).then_some(first)
    }

    /// Returns the value of which `value` is the part with the index `expected`.
    fn part_of(&self, terms: &Terms, value: Value, expected: usize, division: Division) -> Option<Value> {
        match self.division(terms, value)? {
            (Operation::Part { index, of }, args) if usize::from(index) == expected && of == division => {
                args.first().copied()
            }
            _ => None,
        }
    }

    /// Rewrites a value at the entry of a block as a value at the end of the predecessor from which the block was
    /// entered. Without a predecessor, the result is a value at the function's start, where every location is
    /// undefined.
    ///
    /// `None` if an instruction with effects in the block computes the value, or if the terms become too large.
    /// `values_left` bounds the number of visited values.
    pub(super) fn cross(
        &self,
        terms: &mut Terms,
        pred: Option<Block>,
        value: Value,
        values_left: &mut u32,
    ) -> Option<Value> {
        *values_left = values_left.checked_sub(1)?;
        match value {
            Value::Undefined | Value::Unknown | Value::Constant(_) => return Some(value),
            Value::Entry(location) => return Some(self.before_entry(pred, location)),
            _ => {}
        }
        if let Some((inst, 0)) = self.definition(value)
            && self.function().role(inst) == Role::Phi
        {
            return self.phi_input(inst, pred);
        }
        let (operation, args) = self.application(terms, value)?;
        let mut crossed = Vec::with_capacity(args.len());
        for arg in args {
            crossed.push(self.cross(terms, pred, arg, values_left)?);
        }
        match self.reduce(terms, operation, &crossed) {
            Some(value) => Some(value),
            None => terms.term(operation, crossed),
        }
    }

    fn before_entry(&self, pred: Option<Block>, location: Location) -> Value {
        pred.map_or(Value::Undefined, |pred| self.at_end(pred, location))
    }

    fn phi_input(&self, phi: Inst, pred: Option<Block>) -> Option<Value> {
        let Some(pred) = pred else { return Some(Value::Undefined) };
        let named = function::Value::Block(self.pair.named_pred(self.which, pred));
        let inputs = self.function().operands(phi).get(1..)?;
        let input = inputs.chunks_exact(2).find(|input| input[1].value == named)?;
        Some(input[0].use_reg().map_or(Value::Undefined, |reg| self.at_end(pred, reg_location(reg))))
    }
}

/// Returns the number of an instruction's first operand that defines a register.
pub(super) fn first_definition(function: &Function, inst: Inst) -> Option<u32> {
    function.operands(inst).iter().position(|operand| operand.def().is_some()).map(|number| number as u32)
}

fn operation_is_division(operation: Operation) -> bool {
    !matches!(operation, Operation::Other(_))
}

/// The state of [`LocalValues::new`].
struct Numbering<'a> {
    values: LocalValues<'a>,
    /// The contents of the locations that this block has written.
    current: IndexVec<Location, Option<Value>>,
    /// The locations that this block has written.
    written: Vec<Location>,
}

impl<'a> Numbering<'a> {
    fn run(mut self, function: &Function, terms: &mut Terms) -> LocalValues<'a> {
        for block in function.blocks() {
            for inst in function.block_insts(block) {
                self.read_operands(function, inst);
                self.write_operands(function, inst, terms);
            }
            self.written.sort_unstable();
            for location in self.written.drain(..) {
                self.values.ends.extend(self.current[location].take().map(|value| (location, value)));
            }
            self.values.end_start.push(self.values.ends.len() as u32);
        }
        self.values
    }

    fn get(&self, location: Location) -> Value {
        self.current[location].unwrap_or(Value::Entry(location))
    }

    fn set(&mut self, location: Location, value: Value) {
        if self.current[location].replace(value).is_none() {
            self.written.push(location);
        }
    }

    fn read_operands(&mut self, function: &Function, inst: Inst) {
        let is_phi = function.role(inst) == Role::Phi;
        for operand in function.operands(inst) {
            let value = match operand.use_reg() {
                Some(reg) if !is_phi => self.get(reg_location(reg)),
                _ => Value::Undefined,
            };
            self.values.operands.push(value);
        }
    }

    fn write_operands(&mut self, function: &Function, inst: Inst, terms: &mut Terms) {
        if self.values.which == Which::After && matches!(self.values.pair.origin[inst], Origin::Inserted(_)) {
            match (function.role(inst), function.operands(inst)) {
                (Role::Spill, parts) => {
                    for (number, [reg, slot]) in (0..).step_by(2).zip(parts.as_chunks().0) {
                        self.spill(function, (inst, number), reg, slot);
                    }
                    return;
                }
                // A load reads all of its operands, which are slots, before it writes any of its registers.
                (Role::Reload, parts) => {
                    return parts.as_chunks().0.iter().for_each(|[reg, slot]| self.reload(function, reg, slot));
                }
                _ => {}
            }
        }
        for (operand, number) in function.operands(inst).iter().zip(0..) {
            if let Some(reg) = operand.def() {
                let value = self.defined(function, inst, number, terms);
                self.set(reg_location(reg), value);
            }
        }
        if self.values.which == Which::Before {
            self.carry(function, inst);
        }
    }

    /// Returns the value of a definition.
    fn defined(&self, function: &Function, inst: Inst, operand: u32, terms: &mut Terms) -> Value {
        let reduced = match computation(function, inst, operand) {
            Computation::Undefined => Some(Value::Undefined),
            Computation::Copy { source } => Some(self.values.read(inst, source)),
            Computation::Constant => Some(terms.constant(function, inst)),
            Computation::Pack(of) => self.values.reduce(terms, Operation::Pack(of), &self.values.reads(inst)),
            Computation::Part { index, of, source } => {
                self.values.reduce(terms, Operation::Part { index, of }, &[self.values.read(inst, source)])
            }
            Computation::Phi | Computation::Unknown => None,
        };
        reduced.unwrap_or_else(|| self.values.result(inst, operand))
    }

    /// Records the result of an instruction that has a copy in another block.
    fn carry(&mut self, function: &Function, inst: Inst) {
        if let Ok(number) = self.values.pair.carried.binary_search(&inst)
            && let Some(operand) = first_definition(function, inst)
        {
            let value = self.values.result(inst, operand);
            self.set(carried_location(self.values.pair, number), value);
        }
    }

    /// Updates a slot for a spill: reloads with the register's class read its value, and reloads with other classes
    /// read an undefined value.
    fn spill(
        &mut self,
        function: &Function,
        (inst, operand): (Inst, u32),
        reg: &function::Operand,
        slot: &function::Operand,
    ) {
        if let (Some(reg), function::Value::Slot(slot)) = (reg.reg(), slot.value) {
            let value = self.values.read(inst, operand);
            for class in RegClass::ALL {
                let held = if class == function.class(reg) { value } else { Value::Undefined };
                self.set(slot_location(function, slot, class), held);
            }
        }
    }

    fn reload(&mut self, function: &Function, reg: &function::Operand, slot: &function::Operand) {
        if let (Some(reg), function::Value::Slot(slot)) = (reg.reg(), slot.value) {
            let value = self.get(slot_location(function, slot, function.class(reg)));
            self.set(reg_location(reg), value);
        }
    }
}
