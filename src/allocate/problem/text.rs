//! The text form of a problem. Tests, tools and graph-colouring instances can use it to make problems without a
//! function.
//!
//! ```text
//! allocation 1
//! problem k
//! file R budget 255
//! class B64 R width 2 align 2 bytes 8 promotes B128
//! range B64 cost 12.5 fixed 4 register 7 live 2..8 12..16 write 0*1 read 1*10 update 3*1 early 4*1
//! copy 1 lr1 = lr0 * 10
//! lane 3 lr2 + 1 = lr0 * 10
//! loop 8..40
//! crossing 8 none -> loop0 * 1
//! block 0..10 -> 0 1
//! pure 2 3
//! end
//! ```
//!
//! Live ranges are numbered in the order of their lines. The following parts are optional: `budget` (the register
//! limit), `promotes`, `cost`, `fixed`, `register`, the segments and the accesses. A live range without `cost` must
//! have a register. An access is an instruction and its number of executions. `live 2..8` is a segment from point 2 up
//! to, but not including, point 8.
//!
//! In `lane 3 lr2 + 1 = lr0 * 10`, instruction 3 reads lr0 in the tuple lr2, one unit after the tuple's first unit. In
//! `lane 3 lr0 = lr2 + 1 * 10`, it writes lr0 there.
//!
//! A `loop` has the points of its blocks, and `in loop1` if it is inside another loop. A `crossing` has the first point
//! after an edge, the loops before and after the edge (or `none`), and the edge's number of executions. For split live
//! ranges, `part lr0` makes a live range a part of the register whose first part is lr0. In `link 8 lr1 = lr0 * 10`,
//! the value of part lr0 continues in part lr1.
//!
//! A `block` has its instructions, from the first up to, but not including, the second, and the numbers of its
//! successors. `pure` lists instructions whose only effect is their writes.

use std::fmt;
use std::str::{FromStr, SplitWhitespace};

use rustc_hash::FxHashMap;

use super::ProblemBuilder;
use super::{
    Access, AccessKind, Class, ClassData, CopyInst, Crossing, File, FileData, Lane, Link, LiveRange, LoopData, Problem,
};
use crate::analysis::{Loop, Point, Segment, ValueNumber};
use crate::error::{Error, ErrorKind};
use crate::function::{Block, Inst, VReg};

/// A parse error: the line, and a description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ProblemParseError {
    /// The line, from 1.
    pub line: usize,
    /// Description of the error.
    pub problem: String,
}

impl From<ProblemParseError> for Error {
    fn from(error: ProblemParseError) -> Self {
        Self::new(ErrorKind::View, error.to_string(), "see docs/allocation.md for the text form")
    }
}

const KINDS: [(&str, AccessKind); 6] = [
    ("read", AccessKind::Read),
    ("write", AccessKind::Write),
    ("early", AccessKind::EarlyWrite),
    ("update", AccessKind::Update),
    ("late-read", AccessKind::LateRead),
    ("late-write", AccessKind::LateWrite),
];

impl Problem {
    /// Reads a problem, which is not yet [validated](Self::validate).
    pub fn parse(text: &str) -> Result<Self, ProblemParseError> {
        let mut parser = Parser::default();
        let mut number = 0;
        for line in text.lines() {
            number += 1;
            let at_line = |problem| ProblemParseError { line: number, problem };
            if parser.line(line).map_err(at_line)? {
                return parser.finish().map_err(at_line);
            }
        }
        Err(ProblemParseError { line: number + 1, problem: "the problem has no 'end'".into() })
    }

    fn print_range(&self, f: &mut fmt::Formatter<'_>, range: LiveRange) -> fmt::Result {
        let data = &self.ranges[range];
        write!(f, "range {}", self.class(range).name)?;
        if data.spill_cost.is_finite() {
            write!(f, " cost {}", data.spill_cost)?;
        }
        data.fixed.map_or(Ok(()), |unit| write!(f, " fixed {unit}"))?;
        data.register.map_or(Ok(()), |register| write!(f, " register {}", register.0))?;
        data.part_of.map_or(Ok(()), |first| write!(f, " part {first}"))?;
        if !self.segments(range).is_empty() {
            write!(f, " live")?;
        }
        for segment in self.segments(range) {
            write!(f, " {}..{}", segment.start.0, segment.end.0)?;
        }
        for access in self.accesses(range) {
            let kind = KINDS.iter().find(|(_, kind)| *kind == access.kind).map_or("read", |(name, _)| name);
            write!(f, " {kind} {}*{}", access.inst.0, access.frequency)?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "allocation 1\nproblem {}", self.name)?;
        for file in self.files.iter() {
            write!(f, "file {}", file.name)?;
            file.register_limit.map_or(Ok(()), |register_limit| write!(f, " budget {register_limit}"))?;
            writeln!(f, "{}", if file.units_per_register == 2 { " halves" } else { "" })?;
        }
        for (_, class) in self.classes.iter_enumerated() {
            let ClassData { name, file, width, align, bytes, promotes_to } = class;
            write!(f, "class {name} {} width {width} align {align} bytes {bytes}", self.files[*file].name)?;
            promotes_to.map_or(Ok(()), |into| write!(f, " promotes {}", self.classes[into].name))?;
            writeln!(f)?;
        }
        for range in self.ranges.ids() {
            self.print_range(f, range)?;
        }
        for CopyInst { inst, to, from, frequency } in &self.copies {
            writeln!(f, "copy {} {to} = {from} * {frequency}", inst.0)?;
        }
        for Lane { inst, tuple, offset, member, writes, frequency } in &self.lanes {
            match writes {
                true => writeln!(f, "lane {} {member} = {tuple} + {offset} * {frequency}", inst.0)?,
                false => writeln!(f, "lane {} {tuple} + {offset} = {member} * {frequency}", inst.0)?,
            }
        }
        for Link { start, to, from, frequency } in &self.links {
            writeln!(f, "link {} {to} = {from} * {frequency}", start.0)?;
        }
        for LoopData { parent, spans } in self.loops.iter() {
            write!(f, "loop")?;
            parent.map_or(Ok(()), |parent| write!(f, " in {parent}"))?;
            for span in spans {
                write!(f, " {}..{}", span.start.0, span.end.0)?;
            }
            writeln!(f)?;
        }
        let name = |at: Option<Loop>| at.map_or("none".to_owned(), |at| at.to_string());
        for &Crossing { start, from, to, frequency } in &self.crossings {
            writeln!(f, "crossing {} {} -> {} * {frequency}", start.0, name(from), name(to))?;
        }
        writeln!(f, "{}end", self.flow)
    }
}

#[derive(Default)]
struct Parser {
    builder: ProblemBuilder,
    begun: bool,
    files: FxHashMap<String, File>,
    classes: FxHashMap<String, Class>,
    promotions: Vec<(Class, String)>,
    num_ranges: u32,
}

type Line = Result<(), String>;

impl Parser {
    /// Reads a line. Returns whether it is the last.
    fn line(&mut self, line: &str) -> Result<bool, String> {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { return Ok(false) };
        if !self.begun {
            self.begun = true;
            let is_head = first == "allocation" && words.next() == Some("1");
            return if is_head { Ok(false) } else { Err("a problem begins with 'allocation 1'".into()) };
        }
        match first {
            "problem" => self.builder.name = words.collect::<Vec<_>>().join(" "),
            "file" => self.file(words)?,
            "class" => self.class(words)?,
            "range" => self.range(words)?,
            "copy" => self.copy(&line.replace(['=', '*'], " "))?,
            "lane" => self.lane(&line.replace('*', " "))?,
            "link" => self.link(&line.replace(['=', '*'], " "))?,
            "loop" => self.loop_(words)?,
            "crossing" => self.crossing(&line.replace("->", " ").replace('*', " "))?,
            "block" => self.block(&line.replace("->", " "))?,
            "pure" => self.pure(words)?,
            "end" => return Ok(true),
            other => return Err(format!("'{other}' does not begin a line of a problem")),
        }
        Ok(false)
    }

    fn file(&mut self, mut words: SplitWhitespace<'_>) -> Line {
        let name = word(&mut words)?;
        let mut file = FileData { name: name.into(), register_limit: None, units_per_register: 1 };
        while let Some(key) = words.next() {
            match key {
                "budget" => file.register_limit = Some(number(word(&mut words)?)?),
                "halves" => file.units_per_register = 2,
                other => return Err(format!("'{other}': a file may have 'budget' and 'halves'")),
            }
        }
        let file = self.builder.file(file);
        self.files.insert(name.to_owned(), file);
        Ok(())
    }

    fn class(&mut self, mut words: SplitWhitespace<'_>) -> Line {
        let name = word(&mut words)?;
        let of = word(&mut words)?;
        let file = *self.files.get(of).ok_or_else(|| format!("there is no file '{of}'"))?;
        let mut class = ClassData { name: name.into(), file, width: 1, align: 1, bytes: 4, promotes_to: None };
        let mut promotes = None;
        while let Some(key) = words.next() {
            let value = word(&mut words)?;
            match key {
                "width" => class.width = number(value)?,
                "align" => class.align = number(value)?,
                "bytes" => class.bytes = number(value)?,
                "promotes" => promotes = Some(value.to_owned()),
                other => return Err(format!("'{other}': a class may have 'width', 'align', 'bytes' and 'promotes'")),
            }
        }
        let class = self.builder.class(class);
        self.classes.insert(name.to_owned(), class);
        self.promotions.extend(promotes.map(|into| (class, into)));
        Ok(())
    }

    fn range(&mut self, mut words: SplitWhitespace<'_>) -> Line {
        let of = word(&mut words)?;
        let class = *self.classes.get(of).ok_or_else(|| format!("there is no class '{of}'"))?;
        let (mut cost, mut fixed, mut register, mut part) = (f32::INFINITY, None, None, None);
        let (mut segments, mut accesses) = (Vec::new(), Vec::new());
        while let Some(key) = words.next() {
            if let Some((start, end)) = key.split_once("..") {
                let value = ValueNumber(segments.len() as u32);
                segments.push(Segment { start: Point(number(start)?), end: Point(number(end)?), value });
                continue;
            }
            if let Some((_, kind)) = KINDS.into_iter().find(|(name, _)| *name == key) {
                let access = word(&mut words)?;
                let (inst, frequency) =
                    access.split_once('*').ok_or_else(|| format!("'{access}' does not have the form INST*TIMES"))?;
                accesses.push(Access { inst: Inst(number(inst)?), kind, frequency: number(frequency)? });
                continue;
            }
            match key {
                "live" => {}
                "cost" => cost = number(word(&mut words)?)?,
                "fixed" => fixed = Some(number(word(&mut words)?)?),
                "register" => register = Some(number(word(&mut words)?)?),
                "part" => part = Some(LiveRange(id("lr", word(&mut words)?)?)),
                other => return Err(format!("'{other}' is no property of a live range")),
            }
        }
        let range = self.builder.range(class, segments, accesses);
        self.num_ranges = range.0 + 1;
        self.builder.spill_cost(range, cost);
        if let Some(unit) = fixed {
            self.builder.fix(range, unit);
        }
        if let Some(register) = register {
            self.builder.register(range, VReg(register));
        }
        if let Some(first) = part {
            self.builder.part_of(range, first);
        }
        Ok(())
    }

    fn copy(&mut self, line: &str) -> Line {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, inst, to, from, frequency] = words[..] else {
            return Err("a copy is 'copy INST lrTO = lrFROM * TIMES'".into());
        };
        let (to, from) = (self.range_named(to)?, self.range_named(from)?);
        self.builder.copy(CopyInst { inst: Inst(number(inst)?), to, from, frequency: number(frequency)? });
        Ok(())
    }

    fn lane(&mut self, line: &str) -> Line {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (inst, tuple, offset, member, writes, frequency) = match words[..] {
            [_, inst, tuple, "+", offset, "=", member, times] => (inst, tuple, offset, member, false, times),
            [_, inst, member, "=", tuple, "+", offset, times] => (inst, tuple, offset, member, true, times),
            _ => {
                return Err("a lane is 'lane INST lrTUPLE + UNIT = lrMEMBER * TIMES' or \
                     'lane INST lrMEMBER = lrTUPLE + UNIT * TIMES'"
                    .into());
            }
        };
        let (tuple, member) = (self.range_named(tuple)?, self.range_named(member)?);
        let (inst, offset, frequency) = (Inst(number(inst)?), number(offset)?, number(frequency)?);
        self.builder.lane(Lane { inst, tuple, offset, member, writes, frequency });
        Ok(())
    }

    fn link(&mut self, line: &str) -> Line {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, start, to, from, frequency] = words[..] else {
            return Err("a link is 'link POINT lrTO = lrFROM * TIMES'".into());
        };
        let (to, from) = (self.range_named(to)?, self.range_named(from)?);
        self.builder.link(Link { start: Point(number(start)?), to, from, frequency: number(frequency)? });
        Ok(())
    }

    fn range_named(&self, text: &str) -> Result<LiveRange, String> {
        let range = id("lr", text)?;
        if range < self.num_ranges { Ok(LiveRange(range)) } else { Err(format!("there is no {text}")) }
    }

    fn loop_(&mut self, mut words: SplitWhitespace<'_>) -> Line {
        let mut data = LoopData::default();
        while let Some(key) = words.next() {
            match key.split_once("..") {
                Some((start, end)) => data.spans.push(Point(number(start)?)..Point(number(end)?)),
                None if key == "in" => data.parent = Some(Loop(id("loop", word(&mut words)?)?)),
                None => return Err(format!("'{key}' is no property of a loop")),
            }
        }
        self.builder.loop_(data);
        Ok(())
    }

    fn crossing(&mut self, line: &str) -> Line {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, start, from, to, frequency] = words[..] else {
            return Err("a crossing is 'crossing POINT FROM -> TO * TIMES'".into());
        };
        let side = |text: &str| if text == "none" { Ok(None) } else { id("loop", text).map(|of| Some(Loop(of))) };
        let (from, to, frequency) = (side(from)?, side(to)?, number(frequency)?);
        self.builder.crossing(Crossing { start: Point(number(start)?), from, to, frequency });
        Ok(())
    }

    fn block(&mut self, line: &str) -> Line {
        let mut words = line.split_whitespace().skip(1);
        let insts = words.next().and_then(|insts| insts.split_once(".."));
        let (start, end) = insts.ok_or("a block is 'block FROM..TO -> BLOCK …'")?;
        let succs: Result<Vec<Block>, String> = words.map(|succ| number(succ).map(Block)).collect();
        self.builder.block(Inst(number(start)?)..Inst(number(end)?), succs?);
        Ok(())
    }

    fn pure(&mut self, words: SplitWhitespace<'_>) -> Line {
        let mut last = None;
        for word in words {
            let inst = Inst(number(word)?);
            if last.replace(inst).is_some_and(|last| last >= inst) {
                return Err(format!("{word}: pure instructions must be in order"));
            }
            self.builder.pure(inst);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Problem, String> {
        for (class, into) in self.promotions {
            let into = *self.classes.get(&into).ok_or_else(|| format!("there is no class '{into}'"))?;
            self.builder.classes[class].promotes_to = Some(into);
        }
        Ok(self.builder.finish())
    }
}

fn word<'a>(words: &mut SplitWhitespace<'a>) -> Result<&'a str, String> {
    words.next().ok_or_else(|| "the line ends too early".into())
}

/// Parses the number of `lr7` or `loop7`.
fn id(prefix: &str, text: &str) -> Result<u32, String> {
    let what = if prefix == "lr" { "live range" } else { prefix };
    number(text.strip_prefix(prefix).ok_or_else(|| format!("'{text}' is no {what}"))?)
}

/// Parses a number. It must be small enough that instructions, points and units can be computed from it without
/// overflow.
fn number<T: FromStr + PartialOrd + From<u16> + Limit>(text: &str) -> Result<T, String> {
    let number: T = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if number >= T::from(0) && number <= T::LIMIT { Ok(number) } else { Err(format!("{text} is out of range")) }
}

trait Limit {
    const LIMIT: Self;
}

impl Limit for u32 {
    const LIMIT: u32 = u32::MAX / 8;
}

impl Limit for f32 {
    const LIMIT: f32 = f32::INFINITY;
}
