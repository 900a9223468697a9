//! Source lines: the `.loc` in effect at each statement of a function.

use rustc_hash::FxHashMap;

use super::body::Body;
use super::file::File;
use super::parts::{LocClause, Parts};
use super::statement::{Statement, StatementKind};
use super::token::Token;
use super::view::Facts;

/// File, line and column.
pub(super) type Place = [u32; 3];

/// The `.loc` statements of a function, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// Each statement with its line in the function's own file. 0 if the line is unknown.
    locs: Vec<(Statement, u32)>,
    /// The place of each `.loc`, and the place that it is inlined at.
    places: Vec<(Place, Option<Place>)>,
    /// The first `.loc` of each place.
    firsts: FxHashMap<Place, Statement>,
    /// The number of the function's own file: the file of its first `.loc`.
    own: Option<u32>,
}

impl Lines {
    /// Reads the lines of a function. O(statements).
    pub(super) fn new(file: &File<'_>, body: &Body) -> Self {
        let text = file.text();
        let mut lines = Self::default();
        for statement in body.ids() {
            if file.statements().kind(statement) != StatementKind::Loc {
                continue;
            }
            let Some(Parts::Loc(loc)) = file.parts(statement) else { continue };
            let number = |token| text.str(token).parse::<u32>().unwrap_or_default();
            let of = number(loc.place[0]);
            let own = *lines.own.get_or_insert(of);
            let numbers = |place: [Token; 3]| place.map(number);
            let call = loc.clauses.iter().find_map(|clause| match clause {
                LocClause::InlinedAt { place, .. } => Some(numbers(*place)),
                LocClause::Function { .. } => None,
            });
            lines.firsts.entry(numbers(loc.place)).or_insert(statement);
            lines.places.push((numbers(loc.place), call));
            let inlined_at = loc.clauses.iter().find_map(|clause| match clause {
                LocClause::InlinedAt { place, .. } if number(place[0]) == own => Some(number(place[1])),
                _ => None,
            });
            let line = if of == own { number(loc.place[1]) } else { inlined_at.unwrap_or_default() };
            lines.locs.push((statement, line));
        }
        lines
    }

    /// Returns the `.loc` in effect at a statement.
    pub(super) fn loc_at(&self, statement: Statement) -> Option<Statement> {
        let before = self.locs.partition_point(|loc| loc.0 < statement);
        before.checked_sub(1).map(|at| self.locs[at].0)
    }

    /// Returns the place of a `.loc`, and the place that it is inlined at.
    pub(super) fn places_of(&self, loc: Statement) -> Option<(Place, Option<Place>)> {
        self.locs.binary_search_by_key(&loc, |loc| loc.0).ok().map(|at| self.places[at])
    }

    /// Returns the first `.loc` of a place.
    pub(super) fn first_of(&self, place: Place) -> Option<Statement> {
        self.firsts.get(&place).copied()
    }

    /// Returns the line at a statement, 0 if unknown.
    pub(super) fn line_at(&self, statement: Statement) -> u32 {
        let before = self.locs.partition_point(|loc| loc.0 < statement);
        before.checked_sub(1).map_or(0, |at| self.locs[at].1)
    }

    /// Returns the path of the function's own file.
    pub(super) fn file_name(&self, file: &File<'_>, facts: &Facts<'_>) -> Option<String> {
        let (own, text) = (self.own?, file.text());
        facts.headers.iter().filter(|&&id| file.first_word(id) == ".file").find_map(|&id| match file.parts(id) {
            Some(Parts::Values(values)) => match values.values.as_slice() {
                [(_, number), (_, name), ..] if text.str(*number).parse() == Ok(own) => {
                    Some(text.str(*name).trim_matches('"').to_owned())
                }
                _ => None,
            },
            _ => None,
        })
    }
}
