//! A constant as `--set NAME=VALUE` gives it.

use std::ops::{Range, RangeInclusive};

use super::banks::Banks;
use crate::error::{Error, ErrorKind};

/// A name with its value, not yet read. An error of reading it says what is allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl Setting<'_> {
    fn wrong(self, allowed: &str) -> Error {
        let problem = format!("--set {}={}: not allowed", self.name, self.value);
        Error::new(ErrorKind::Option, problem, format!("use {allowed}"))
    }

    /// A number within a range, which `allowed` puts into words.
    pub(super) fn number(self, range: RangeInclusive<u32>, allowed: &str) -> Result<u32, Error> {
        let number = self.value.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.wrong(allowed))
    }

    pub(super) fn count(self) -> Result<u32, Error> {
        self.number(0..=u32::MAX, "a whole number")
    }

    pub(super) fn switch(self) -> Result<bool, Error> {
        match self.value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(self.wrong("on or off")),
        }
    }

    /// A finite number from 0.
    pub(super) fn factor(self) -> Result<f32, Error> {
        let number = self.value.parse::<f32>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.wrong("a number from 0"))
    }

    /// What `read` makes of the value; nothing of `none`.
    pub(super) fn unless_none<T>(self, read: impl FnOnce(Self) -> Result<T, Error>) -> Result<Option<T>, Error> {
        if self.value == "none" { Ok(None) } else { read(self).map(Some) }
    }

    /// Registers of the file in a row, `16..32`.
    pub(super) fn registers(self) -> Result<Range<u32>, Error> {
        let range = self.value.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        let range = range.filter(|range: &Range<u32>| range.start < range.end && range.end <= 256);
        range.ok_or_else(|| self.wrong("FROM..TO up to 256, or none"))
    }

    /// The length of a row of registers.
    pub(super) fn row(self) -> Result<u32, Error> {
        let allowed = "1, 2, 4, …, 256, or none";
        self.number(1..=256, allowed)
            .and_then(|count| if count.is_power_of_two() { Ok(count) } else { Err(self.wrong(allowed)) })
    }

    /// Banks with their ports, `4x1`.
    pub(super) fn banks(self) -> Result<Banks, Error> {
        let parts =
            self.value.split_once('x').and_then(|(count, ports)| Some((count.parse().ok()?, ports.parse().ok()?)));
        let parts = parts.filter(|&(count, ports)| (1..=256).contains(&count) && (1..=256).contains(&ports));
        parts.map(|(count, ports)| Banks { count, ports }).ok_or_else(|| self.wrong("BANKSxPORTS up to 256, or none"))
    }
}
