//! The best variant of each kernel in one module, judged once more.

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
    /// What each kernel of the search got, and its figures in the whole.
    pub(super) chosen: IndexVec<KernelId, (Variant, Figures)>,
}

/// Puts the best variants together. A kernel that is worse than stock in company, as ptxas may have it, becomes stock
/// again, and the rest is judged anew; each time at least one does, so that this ends. Where ptxas takes the module not
/// even as LLVM makes it, because of some other kernel, what it said of each kernel alone has to do. `None` where the
/// whole has not been judged yet.
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

/// The module with a variant for each kernel.
struct Whole {
    ptx: Vec<u8>,
    profile: Profile,
    /// None where ptxas does not take it.
    judged: Option<Judgement>,
}

impl Whole {
    /// `None` where it is judged later.
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
