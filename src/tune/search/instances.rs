//! The order of the kernels of a search. The first instances of a template with the same deficits are searched one
//! after the other, so that each learns from the ones before it. All other instances learn from these first instances.

use std::collections::BTreeMap;

use super::{KernelId, Search};
use crate::tune::kernel::{Kernel, Lessons, TEACHERS, TemplateGroup};

impl Search {
    /// Returns the kernels in phases, each kernel in one phase. A phase depends only on earlier phases. The first phase
    /// has the first instance of each template, and all kernels that are no instances.
    pub fn phases(&self) -> Vec<Vec<KernelId>> {
        let mut phases: Vec<Vec<KernelId>> = vec![Vec::new(); TEACHERS + 1];
        let mut seen: BTreeMap<TemplateGroup<'_>, usize> = BTreeMap::new();
        for (id, kernel) in self.kernels.iter_enumerated() {
            let before = kernel.template_group().map_or(0, |template_group| {
                let seen = seen.entry(template_group).or_default();
                std::mem::replace(seen, *seen + 1)
            });
            phases[before.min(TEACHERS)].push(id);
        }
        phases.retain(|phase| !phase.is_empty());
        phases
    }

    /// Begins a phase: each kernel learns from earlier instances. Returns the kernels of the phase whose searches may
    /// begin, because none of their teachers has pending answers.
    pub fn begin(&mut self, phase: &[KernelId]) -> Vec<KernelId> {
        let mut ready = Vec::new();
        for &id in phase {
            let teachers = self.teachers(id);
            if teachers.iter().any(|teacher| teacher.waits()) {
                continue;
            }
            if !teachers.is_empty() {
                let lessons = Lessons::of(&self.objective, &self.kernels[id], &teachers);
                self.kernels[id].learn(lessons);
            }
            ready.push(id);
        }
        ready
    }

    /// Returns the first instances of a kernel's group that precede the kernel, at most `TEACHERS`.
    fn teachers(&self, kernel: KernelId) -> Vec<&Kernel> {
        let Some(template_group) = self.kernels[kernel].template_group() else { return Vec::new() };
        let before = self.kernels.iter_enumerated().take_while(|&(id, _)| id != kernel);
        let instances = before.filter(|(_, other)| other.template_group() == Some(template_group));
        instances.map(|(_, other)| other).take(TEACHERS).collect()
    }
}
