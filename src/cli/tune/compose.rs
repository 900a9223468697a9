//! The best variant of each kernel in one module, judged once more.

use nvptx_ra::error::Error;
use nvptx_ra::profile::Profile;

use super::answer::{Judged, NoAnswer};
use super::figures::Figures;
use super::judge::Look;
use super::rounds::Search;
use super::variant::Variant;

/// The result of a search.
pub(super) struct Composed {
    pub(super) ptx: Vec<u8>,
    pub(super) profile: Profile,
    /// What each kernel of the search got, and its figures in the whole.
    pub(super) chosen: Vec<(Variant, Figures)>,
}

/// Puts the best variants together. A kernel that is worse than stock in company, as ptxas may have it, becomes stock
/// again, and the rest is judged anew; each time at least one does, so that this ends. Where ptxas takes the module not
/// even as LLVM makes it, because of some other kernel, what it said of each kernel alone has to do. `None` where the
/// whole has not been judged yet.
pub(super) fn compose(search: &Search<'_>) -> Result<Option<Composed>, Error> {
    let mut chosen: Vec<(Variant, Figures)> = search.kernels.iter().map(|kernel| kernel.best(&search.aim)).collect();
    loop {
        let Some(whole) = Whole::new(search, |at| chosen[at].0)? else { return Ok(None) };
        if whole.judged.is_none() {
            let Some(stock) = Whole::new(search, |_| Variant::Stock)? else { return Ok(None) };
            if stock.judged.is_none() {
                return Ok(Some(Composed { ptx: whole.ptx, profile: whole.profile, chosen }));
            }
        }
        let mut fell_back = false;
        for (at, (kernel, choice)) in search.kernels.iter().zip(&mut chosen).enumerate() {
            let variant = choice.0;
            let holds = |figures: &Figures| kernel.is_admissible(&search.aim, &variant, figures);
            let figures = whole.figures(search, at).map(|figures| kernel.of_variant(&search.aim, &choice.0, figures));
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
    judged: Option<Judged>,
}

impl Whole {
    /// `None` where it is judged later.
    fn new(search: &Search<'_>, variant: impl Fn(usize) -> Variant) -> Result<Option<Self>, Error> {
        let variants: Vec<Variant> = (0..search.kernels.len()).map(variant).collect();
        let in_slice =
            |name: &str, at: usize| search.slices[at].variant_of(name, &search.kernels[at].name, &variants[at]);
        let of = |name: &str| (0..search.kernels.len()).find_map(|at| in_slice(name, at));
        let profile = search.code.profile(&of);
        let ptx = search.code.compile(&profile)?;
        let limit = search.slices.iter().map(|slice| slice.limit).sum();
        let judged = match search.judge.judge(&ptx, limit, Look::Closely) {
            Err(NoAnswer::Later) => return Ok(None),
            answer => answer.ok(),
        };
        Ok(Some(Self { ptx, profile, judged }))
    }

    fn figures(&self, search: &Search<'_>, at: usize) -> Option<Figures> {
        let kernel = &search.kernels[at];
        self.judged.as_ref()?.figures(&kernel.name, kernel.block, search.aim.architecture).ok()
    }
}
