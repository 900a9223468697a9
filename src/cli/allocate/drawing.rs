//! Draws the live ranges of a function over its instructions.
//!
//! Each register file has a band, with a row for each unit. Below the units, each spilled live range has a row. A
//! spilled live range also appears in the rows of its registers, at the accesses that use a register.

use nvptx_ra::allocate::{Access, AccessKind, File, LiveRange, Placement};
use nvptx_ra::analysis::Segment;
use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Text, Title};

use super::picture::{Picture, color};

/// Height of a unit's row, width of the labels on the left, and height of a band's own labels, in pixels.
const ROW: f64 = 12.0;
const LEFT: f64 = 90.0;
const LABELS: f64 = 40.0;
/// Minimum width of the instructions, in pixels.
const WIDTH: f64 = 1200.0;

/// The drawing, which grows downwards.
struct Drawing<'a> {
    picture: &'a Picture<'a>,
    document: Document,
    /// Pixels for each instruction.
    scale: f64,
    y: f64,
}

/// Draws an allocation.
pub(super) fn svg(picture: &Picture<'_>) -> String {
    let num_insts = picture.problem.num_insts().max(1) as f64;
    let scale = (WIDTH / num_insts).clamp(2.0, 24.0);
    let mut drawing = Drawing { picture, document: Document::new(), scale, y: 24.0 };
    let heading = format!("{}, {}", picture.problem.name().escape_debug(), picture.allocator);
    drawing.text(LEFT, 16.0, "start", heading);
    for file in picture.problem.files().ids() {
        drawing.band(file);
    }
    drawing.text(LEFT + scale * num_insts / 2.0, drawing.y + 12.0, "middle", "instruction".into());
    let (width, height) = (LEFT + scale * num_insts + 20.0, drawing.y + 24.0);
    let document = drawing.document.set("width", width).set("height", height);
    let document = document.set("viewBox", (0, 0, width, height));
    document.set("font-family", "sans-serif").set("font-size", 10).to_string() + "\n"
}

impl Drawing<'_> {
    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        svg::Node::append(&mut self.document, node);
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: String) {
        self.add(Text::new(text).set("x", x).set("y", y).set("text-anchor", anchor));
    }

    fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], color: &str) {
        self.add(Line::new().set("x1", x1).set("y1", y1).set("x2", x2).set("y2", y2).set("stroke", color));
    }

    /// Draws one file: its units, its spilled live ranges, and the axis below them.
    fn band(&mut self, file: File) {
        let problem = self.picture.problem;
        let is_here = |range: &LiveRange| problem.file(*range) == file && !problem.segments(*range).is_empty();
        let ranges: Vec<LiveRange> = problem.ranges().ids().filter(is_here).collect();
        if ranges.is_empty() {
            return;
        }
        let costs = self.picture.allocation.costs(problem);
        let (units, top) = (costs.units[file.0 as usize], self.y);
        let (name, register_limit) = (&problem.files()[file].name, problem.files()[file].register_limit);
        let right = LEFT + self.scale * problem.num_insts() as f64;
        for unit in 0..units {
            let y = top + ROW * f64::from(unit);
            self.text(LEFT - 6.0, y + ROW - 2.0, "end", format!("{name}{unit}"));
            self.line([LEFT, y, right, y], "#eeeeee");
        }
        let title = Text::new(format!("unit of {name}")).set("text-anchor", "middle");
        let middle = top + ROW * f64::from(units) / 2.0;
        self.add(title.set("transform", format!("translate(14 {middle}) rotate(-90)")));
        let spilled: Vec<LiveRange> = ranges.iter().copied().filter(|&range| self.registers(range, top)).collect();
        self.y += ROW * f64::from(units);
        if let Some(register_limit) = register_limit.filter(|&register_limit| register_limit <= units) {
            let y = top + ROW * f64::from(register_limit);
            self.line([LEFT, y, right, y], "#cc0000");
        }
        if !spilled.is_empty() {
            self.y += ROW;
            self.text(LEFT - 6.0, self.y + ROW - 2.0, "end", "spilled".into());
        }
        for range in spilled {
            for segment in problem.segments(range) {
                let title = format!("{}, spilled", self.title(range));
                self.bar(segment, (self.y, ROW), ("#ffffff", "#cc0000"), title);
            }
            self.y += ROW;
        }
        self.axis(right);
    }

    /// Draws a live range in its registers. If it is spilled, draws it in the registers of its accesses, and returns
    /// true.
    fn registers(&mut self, range: LiveRange, top: f64) -> bool {
        let (picture, problem) = (self.picture, self.picture.problem);
        let height = ROW * f64::from(problem.class(range).width);
        let Placement::Register(unit) = picture.allocation.placements[range] else {
            for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
                let Some(unit) = picture.allocation.pieces[number] else { continue };
                let title = format!("{}, {} in {}", self.title(range), kind(access), picture.unit(range, unit));
                let y = top + ROW * f64::from(unit);
                self.bar(&access.segment(), (y, height), (&color(unit), "#cc0000"), title);
            }
            return true;
        };
        let title = format!("{}, {}", self.title(range), picture.unit(range, unit));
        for segment in problem.segments(range) {
            self.bar(segment, (top + ROW * f64::from(unit), height), (&color(unit), "#666666"), title.clone());
        }
        false
    }

    fn title(&self, range: LiveRange) -> String {
        let data = &self.picture.problem.ranges()[range];
        let class = &self.picture.problem.class(range).name;
        let cost = if data.spill_cost.is_finite() { format!("cost {}", data.spill_cost) } else { "must stay".into() };
        format!("{}, {class}, {cost}", self.picture.name(range))
    }

    fn bar(&mut self, segment: &Segment, (y, height): (f64, f64), (fill, stroke): (&str, &str), title: String) {
        // An instruction has four points.
        let x = |point: u32| LEFT + self.scale * f64::from(point) / 4.0;
        let (start, end) = (x(segment.start.0), x(segment.end.0));
        let bar =
            Rectangle::new().set("x", start).set("y", y + 1.0).set("width", end - start).set("height", height - 2.0);
        let bar = bar.set("fill", fill).set("stroke", stroke).set("stroke-width", 0.5);
        self.add(Group::new().add(Title::new(title)).add(bar));
    }

    /// Draws as many instruction numbers as fit.
    fn axis(&mut self, right: f64) {
        let y = self.y + 2.0;
        self.line([LEFT, y, right, y], "#000000");
        let step =
            [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|&step| self.scale * step as f64 >= 40.0);
        for inst in (0..=self.picture.problem.num_insts()).step_by(step.unwrap_or(1000)) {
            let x = LEFT + self.scale * inst as f64;
            self.line([x, y, x, y + 4.0], "#000000");
            self.text(x, y + 14.0, "middle", inst.to_string());
        }
        self.y += LABELS;
    }
}

fn kind(access: &Access) -> String {
    let done = match access.kind {
        AccessKind::Read | AccessKind::LateRead => "reloaded for",
        AccessKind::Write | AccessKind::EarlyWrite | AccessKind::LateWrite => "stored after",
        AccessKind::Update => "reloaded for and stored after",
    };
    format!("{done} instruction {}", access.inst.0)
}
