//! Names and declarations of the registers of an edited function.

use rustc_hash::FxHashMap;

use super::begins_any_word;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Segment, overlap, union};
use crate::function::{Function, RegClass, VReg};
use crate::index::EntityIndex;
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::view::View;

/// The prefix of new registers, by class.
const PREFIXES: [(RegClass, &str, &str); 5] = [
    (RegClass::B1, "%vp", ".pred"),
    (RegClass::B16, "%vh", ".b16"),
    (RegClass::B32, "%vr", ".b32"),
    (RegClass::B64, "%vd", ".b64"),
    (RegClass::B128, "%vq", ".b128"),
];

/// The registers of an edited function.
pub(super) struct Registers {
    /// The names, by register.
    names: Vec<String>,
    /// The prefix and the number of new registers, by class.
    created: [(String, u32); 5],
    /// Whether an original register gets a new name.
    is_new: Vec<bool>,
    num_old: usize,
}

impl Registers {
    pub(super) fn new(file: &File<'_>, body: &Body, view: &View<'_>, after: &Function) -> Self {
        let text = file.text();
        let mut registers = Self {
            names: view.names.ids().map(|reg| text.str(view.names.registers[reg].token).to_owned()).collect(),
            created: PREFIXES.map(|(_, prefix, _)| (prefix.to_owned(), 0)),
            is_new: vec![false; view.names.len()],
            num_old: view.names.len(),
        };
        if after.num_regs() > registers.num_old {
            registers.choose_prefixes(file, body);
        }
        for reg in after.regs().skip(registers.num_old) {
            let name = registers.create(after.class(reg));
            registers.names.push(name);
        }
        registers.part(file, body, after);
        registers
    }

    /// Renames registers that share a name with another register while both are live.
    fn part(&mut self, file: &File<'_>, body: &Body, after: &Function) {
        let mut by_name: FxHashMap<&str, Vec<VReg>> = FxHashMap::default();
        for reg in after.regs().take(self.num_old) {
            by_name.entry(&self.names[reg.index()]).or_default().push(reg);
        }
        let mut groups: Vec<Vec<VReg>> = by_name.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_unstable();
        if groups.is_empty() {
            return;
        }
        let cfg = Cfg::new(after);
        let (dominators, occurrences) = (Dominators::new(after, &cfg), Occurrences::new(after, &|_| true));
        let wanted: Vec<VReg> = groups.iter().flatten().copied().collect();
        let live = LiveRanges::new(after, &cfg, &dominators, &occurrences, &wanted);
        for group in groups {
            let mut taken: Vec<Segment> = Vec::new();
            for reg in group {
                let segments = live.segments(reg);
                if overlap(&taken, segments, |_, _| true) {
                    self.names[reg.index()] = self.create_with(file, body, after.class(reg));
                    self.is_new[reg.index()] = true;
                    continue;
                }
                let mut both = Vec::with_capacity(taken.len() + segments.len());
                union(&taken, segments, &mut both);
                taken = both;
            }
        }
    }

    fn choose_prefixes(&mut self, file: &File<'_>, body: &Body) {
        for (prefix, _) in &mut self.created {
            while begins_any_word(file, body, prefix) {
                prefix.push('_');
            }
        }
    }

    /// Returns the name of a new register of a class. The first call chooses the prefixes.
    pub(super) fn create_with(&mut self, file: &File<'_>, body: &Body, class: RegClass) -> String {
        if self.created.iter().all(|(_, count)| *count == 0) {
            self.choose_prefixes(file, body);
        }
        self.create(class)
    }

    /// Returns the name of a new register of a class.
    fn create(&mut self, class: RegClass) -> String {
        let at = RegClass::ALL.iter().position(|&other| other == class).unwrap_or(2);
        let (prefix, count) = &mut self.created[at];
        *count += 1;
        format!("{prefix}{}", *count - 1)
    }

    /// Returns the name of a register.
    pub(super) fn name(&self, reg: VReg) -> &str {
        &self.names[reg.index()]
    }

    /// Whether a register has its original name.
    pub(super) fn is_old(&self, reg: VReg) -> bool {
        self.is_new.get(reg.index()).is_some_and(|is_new| !is_new)
    }

    /// Returns the declarations of the new registers.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for ((prefix, count), (_, _, type_name)) in self.created.iter().zip(PREFIXES) {
            if *count > 0 {
                text += &format!("\n\t.reg {type_name} \t{prefix}<{count}>;");
            }
        }
        text
    }
}

/// Returns the type that is accepted by all instructions with a register of the class.
pub(super) fn untyped(class: RegClass) -> &'static str {
    PREFIXES.iter().find(|prefix| prefix.0 == class).map_or(".b32", |prefix| prefix.2)
}
