//! The winners of all kernels in one module, judged once more.

use nvptx_ra::error::Error;
use nvptx_ra::index::IndexVec;
use nvptx_ra::profile::Profile;
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;
use nvptx_ra::tune::search::KernelId;
use nvptx_ra::tune::variant::Variant;

use super::judge::Inspection;
use super::tuning::{Tuning, checked};

/// The result of a search.
pub(super) struct Composed {
    pub(super) ptx: Vec<u8>,
    pub(super) profile: Profile,
    /// The final variant of each kernel, and its figures in the whole module.
    pub(super) chosen: IndexVec<KernelId, (Variant, Figures)>,
}

/// Combines the winners. ptxas may make a kernel worse than stock if the kernel is in one module with the others. Such
/// a kernel becomes stock again, and the module is judged again. Each iteration returns at least one kernel to stock,
/// so the loop ends. If ptxas refuses the whole module even with stock's code for all kernels, the figures of the
/// separate kernels are used. `None` if the whole module has not been judged yet.
pub(super) fn compose(tuning: &Tuning<'_>) -> Result<Option<Composed>, Error> {
    let search = &tuning.search;
    let mut chosen: IndexVec<KernelId, (Variant, Figures)> = search.kernels.ids().map(|id| search.best(id)).collect();
    loop {
        let Some(whole) = Whole::new(tuning, |id| chosen[id].0.clone())? else { return Ok(None) };
        if whole.judged.is_none() {
            let Some(stock) = Whole::new(tuning, |_| Variant::Stock)? else { return Ok(None) };
            if stock.judged.is_none() {
                return Ok(Some(Composed { ptx: whole.ptx, profile: whole.profile, chosen }));
            }
        }
        let mut fell_back = false;
        for (id, kernel) in search.kernels.iter_enumerated() {
            let choice = &mut chosen[id];
            let variant = choice.0.clone();
            let holds = |figures: &Figures| kernel.is_admissible(&search.objective, &variant, figures);
            let figures =
                whole.figures(tuning, id).map(|figures| kernel.of_variant(&search.objective, &choice.0, figures));
            match figures.filter(holds) {
                Some(figures) => choice.1 = Figures { timing: choice.1.timing, ..figures },
                None if choice.0 == Variant::Stock => {}
                None => {
                    *choice = (Variant::Stock, kernel.stock);
                    fell_back = true;
                }
            }
        }
        if !fell_back {
            return Ok(Some(Composed { ptx: whole.ptx, profile: whole.profile, chosen }));
        }
    }
}

/// The module with one variant for each kernel.
struct Whole {
    ptx: Vec<u8>,
    profile: Profile,
    /// `None` if ptxas refuses the module.
    judged: Option<Judgement>,
}

impl Whole {
    /// Compiles and judges the module. `None` if the module is judged later.
    fn new(tuning: &Tuning<'_>, variant: impl Fn(KernelId) -> Variant) -> Result<Option<Self>, Error> {
        let Tuning { code, slices, judges, .. } = tuning;
        let variants: IndexVec<KernelId, Variant> = slices.ids().map(variant).collect();
        let of = |name: &str| slices.iter_enumerated().find_map(|(id, slice)| slice.variant_of(name, &variants[id]));
        let profile = code.profile(&of);
        let ptx = code.compile(&checked(profile.clone()))?;
        let limit = slices.iter().map(|slice| slice.limit).sum();
        let judged = match judges.judge.judge(&ptx, limit, Inspection::Disassembler) {
            Err(NoAnswer::Later) => return Ok(None),
            answer => answer.ok(),
        };
        Ok(Some(Self { ptx, profile, judged }))
    }

    fn figures(&self, tuning: &Tuning<'_>, id: KernelId) -> Option<Figures> {
        let kernel = &tuning.search.kernels[id];
        self.judged.as_ref()?.figures(&kernel.name, kernel.block, tuning.search.objective.architecture).ok()
    }
}
