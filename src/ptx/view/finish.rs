//! The function of the view: blocks, edges, lines.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::View;
use super::context::Context;
use super::draft::DraftInst;
use super::in_flight::keep_in_flight;
use super::items::Items;
use super::webs::split_webs;
use crate::analysis::{Cfg, Dominators, Loops};
use crate::function::{Block, Function, NoUnroll, OpcodeTable, Value};
use crate::index::{EntityIndex, IndexVec};
use crate::ptx::body::Body;
use crate::ptx::lines::Lines;
use crate::target::Classification;
use crate::target::ptx::role;

/// The assumed trip count of a loop.
const TURNS: f64 = 10.0;

/// Creates the view from a function's instructions.
pub(super) fn finish<'a>(
    mut context: Context<'_, 'a>,
    body: &Body,
    items: Items<'a>,
    mut insts: Vec<DraftInst>,
) -> Result<View<'a>, String> {
    let blocks = blocks_of(&insts, items.num_blocks);
    let number =
        |(block, range): (usize, &Range<usize>)| successors(&insts[range.clone()], Block::new(block), blocks.len());
    let successors: Vec<Vec<Block>> = blocks.iter().enumerate().map(number).collect();
    keep_in_flight(&mut insts, &blocks, &successors, |reg| context.names.class(reg))?;
    let lines = Lines::new(context.file, body);
    for inst in &mut insts {
        inst.line = lines.line_at(inst.first);
    }
    if let Some(path) = lines.file_name(context.file, context.facts) {
        context.builder.file(&path);
    }
    let text = context.file.text();
    for reg in context.names.ids() {
        let name = text.str(context.names.registers[reg].token);
        context.builder.named_reg(context.names.class(reg), Some(name));
    }
    let mut opcodes = OpcodeTable::inserted();
    let (mut statements, mut tokens, mut token_start) = (IndexVec::new(), Vec::new(), vec![0]);
    let mut operands = Vec::new();
    let is_everywhere = context.facts.stops_unrolling || body.stops_unrolling(context.file);
    for ((range, successors), &no_unroll) in blocks.into_iter().zip(&successors).zip(&items.no_unroll) {
        let block = context.builder.block(successors, 1.0, 0);
        context.builder.no_unroll(block, if is_everywhere { NoUnroll::Here } else { no_unroll });
        for inst in &insts[range] {
            let known = opcodes.find(&inst.name);
            let opcode = known.unwrap_or_else(|| opcodes.intern(&inst.name, role(&inst.name)));
            operands.clear();
            for operand in &inst.operands {
                operands.push(operand.operand);
                tokens.extend_from_slice(&operand.tokens);
                token_start.push(tokens.len() as u32);
            }
            context.builder.full_inst(opcode, &operands, inst.effects, inst.space, inst.line);
            statements.push((inst.first, inst.last));
        }
    }
    let mut function = context.builder.finish();
    function.opcodes = Arc::new(opcodes);
    estimate_frequencies(&mut function);
    for origin in split_webs(&mut function) {
        let named = context.names.registers[origin];
        context.names.registers.push(named);
    }
    function.validate().map_err(|error| error.to_string())?;
    let classification = Arc::new(Classification::by_name(function.opcodes()));
    Ok(View {
        function,
        classification,
        odd: items.odd,
        statements,
        token_start,
        tokens,
        names: context.names,
        block_start: IndexVec::from(items.starts),
        block_label: IndexVec::from(items.block_labels),
    })
}

/// Returns the instructions of each block.
fn blocks_of(insts: &[DraftInst], num_blocks: usize) -> Vec<Range<usize>> {
    let mut next = 0;
    let range = |block| {
        let end = insts[next..].iter().position(|inst| inst.block != block).map_or(insts.len(), |count| next + count);
        std::mem::replace(&mut next, end)..end
    };
    (0..num_blocks).map(Block::new).map(range).collect()
}

/// Returns the successors of a block, each once: branch targets first, then the next block.
fn successors(insts: &[DraftInst], block: Block, num_blocks: usize) -> Vec<Block> {
    let (mut successors, mut known) = (Vec::new(), FxHashSet::default());
    let named = insts.iter().flat_map(|inst| &inst.operands).filter_map(|operand| match operand.operand.value {
        Value::Block(target) => Some(target),
        _ => None,
    });
    let next = Block(block.0 + 1);
    let goes_on = insts.last().is_none_or(|inst| inst.goes_on) && next.index() < num_blocks;
    for target in named.chain(goes_on.then_some(next)) {
        if known.insert(target) {
            successors.push(target);
        }
    }
    successors
}

/// Estimates the frequency of blocks from the loops that contain them.
fn estimate_frequencies(function: &mut Function) {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg, &Dominators::new(function, &cfg));
    for (number, data) in function.blocks.iter_mut().enumerate() {
        data.loop_depth = loops.depth(Block::new(number));
        data.frequency = TURNS.powi(data.loop_depth.min(30) as i32);
    }
}
