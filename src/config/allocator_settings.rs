//! An option whose value is a list of settings: constants and knobs of the allocators, by name.
//!
//! Names and values are checked here, where options are parsed. The allocators' presets have the fields that the
//! settings change.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::nearest::nearest;
use super::settings_table::{SETTINGS, SettingKind};
use super::value::{Choice, Shape, Value};

/// Settings in the order in which they were given. Copies share the list, which is never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatorSettings(Option<Arc<[Setting]>>);

/// A setting with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name, one of [`SETTINGS`].
    pub name: &'static str,
    /// Value, of the kind that the table gives.
    pub value: SettingValue,
}

/// The value of a setting. Factors are finite.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// Of [`SettingKind::Switch`].
    Switch(bool),
    /// Of [`SettingKind::Whole`].
    Number(u32),
    /// Of [`SettingKind::Limit`] and [`SettingKind::Row`]; `None` if there is no limit.
    Limit(Option<u32>),
    /// Of [`SettingKind::Factor`].
    Factor(f32),
    /// Of [`SettingKind::Registers`].
    Registers(Option<Range<u32>>),
}

// Factors are finite, so equality is reflexive.
impl Eq for SettingValue {}

/// The problem with a list of settings, and the allowed values.
pub(super) type Fault = (String, String);

impl SettingKind {
    fn parse(self, text: &str) -> Option<SettingValue> {
        let number = || u32::parse(text, &u32::SHAPE);
        let is_none = text == "none";
        Some(match self {
            Self::Switch => SettingValue::Switch(bool::parse(text, &Shape::Switch)?),
            Self::Whole { min, max } => SettingValue::Number(number().filter(|number| (min..=max).contains(number))?),
            Self::Limit | Self::Row if is_none => SettingValue::Limit(None),
            Self::Limit => SettingValue::Limit(Some(number()?)),
            Self::Row => SettingValue::Limit(Some(number().filter(|&row| row <= 256 && row.is_power_of_two())?)),
            Self::Factor => {
                let factor = text.parse::<f32>().ok().filter(|factor| factor.is_finite() && *factor >= 0.0)?;
                // The sum turns -0, which would be printed with its sign, into 0.
                SettingValue::Factor(factor + 0.0)
            }
            Self::Registers if is_none => SettingValue::Registers(None),
            Self::Registers => {
                let (from, to) = text.split_once("..")?;
                let registers = u32::parse(from, &u32::SHAPE)?..u32::parse(to, &u32::SHAPE)?;
                SettingValue::Registers(Some(registers).filter(|row| !row.is_empty() && row.end <= 256)?.into())
            }
        })
    }

    /// Describes the allowed values.
    fn allowed(self) -> Cow<'static, str> {
        match self {
            Self::Switch => "on or off".into(),
            Self::Whole { min: 0, max: u32::MAX } => "a whole number".into(),
            Self::Whole { min, max: u32::MAX } => format!("a whole number from {min}").into(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}").into(),
            Self::Limit => "a whole number, or none".into(),
            Self::Factor => "a number from 0".into(),
            Self::Registers => "FROM..TO up to 256, or none".into(),
            Self::Row => "1, 2, 4, …, 256, or none".into(),
        }
    }
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(is_on) => f.write_str(if *is_on { "on" } else { "off" }),
            Self::Number(number) | Self::Limit(Some(number)) => number.fmt(f),
            Self::Factor(factor) => factor.fmt(f),
            Self::Registers(Some(row)) => write!(f, "{}..{}", row.start, row.end),
            Self::Limit(None) | Self::Registers(None) => f.write_str("none"),
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl AllocatorSettings {
    /// No settings.
    pub(super) const NONE: Self = Self(None);

    /// Yields the settings, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter().flat_map(|all| all.iter())
    }

    /// Parses `NAME=VALUE,NAME=VALUE`, or `none`.
    pub(super) fn read(text: &str) -> Result<Self, Fault> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        let settings = text.split([',', '+']).map(setting).collect::<Result<Arc<[Setting]>, Fault>>()?;
        Ok(Self(Some(settings)))
    }
}

fn setting(text: &str) -> Result<Setting, Fault> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let Some(spec) = SETTINGS.iter().find(|spec| spec.name == name) else {
        let names: Vec<&str> = SETTINGS.iter().map(|spec| spec.name).collect();
        let hint = nearest(name, names.iter().copied()).map(|name| format!("; did you mean {name}?"));
        return Err((format!("{name}: unknown"), format!("use {}{}", names.join(", "), hint.unwrap_or_default())));
    };
    let value = spec.kind.parse(value);
    let setting = value.map(|value| Setting { name: spec.name, value });
    setting.ok_or_else(|| (format!("{text}: not allowed"), format!("use {}", spec.kind.allowed())))
}

/// The settings, as the help lists them.
const CHOICES: [Choice; SETTINGS.len()] = {
    let mut choices = [Choice { name: "", help: "" }; SETTINGS.len()];
    let mut number = 0;
    while number < SETTINGS.len() {
        choices[number] = Choice { name: SETTINGS[number].name, help: SETTINGS[number].help };
        number += 1;
    }
    choices
};

impl Value for AllocatorSettings {
    const SHAPE: Shape = Shape::Settings(&CHOICES);

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        Self::read(text).ok()
    }

    /// The settings are joined by `+`, because a comma ends a pass parameter.
    fn print(&self) -> Cow<'static, str> {
        let settings: Vec<String> = self.iter().map(Setting::to_string).collect();
        if settings.is_empty() { "none".into() } else { settings.join("+").into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings are parsed with either separator. The printed settings are parsed to the same list.
    #[test]
    fn prints_back() {
        for (text, printed) in [
            ("none", "none"),
            ("latency-1=4,split-gain=2.5", "latency-1=4+split-gain=2.5"),
            ("tuples=off+caller-saved=2..9+split-threshold=none", "tuples=off+caller-saved=2..9+split-threshold=none"),
            ("clamp=1e9", "clamp=1000000000"),
            ("loop-base=-0", "loop-base=0"),
        ] {
            let settings = AllocatorSettings::read(text).expect(text);
            assert_eq!(settings.print(), printed);
            assert_eq!(AllocatorSettings::read(printed), Ok(settings));
        }
    }

    /// An error names the faulty setting and the allowed values.
    #[test]
    fn refusals() {
        let refusal = |text: &str| {
            let (problem, remedy) = AllocatorSettings::read(text).expect_err(text);
            format!("{problem}; {remedy}")
        };
        assert_eq!(refusal("tuples=on,latency-1=inf"), "latency-1=inf: not allowed; use a number from 0");
        assert_eq!(refusal("matrix-tuple=3"), "matrix-tuple=3: not allowed; use 1, 2, 4, …, 256, or none");
        assert_eq!(refusal("reserved=9..2"), "reserved=9..2: not allowed; use FROM..TO up to 256, or none");
        assert_eq!(refusal("predicates"), "predicates: not allowed; use a whole number");
        let unknown = refusal("latency-4=1");
        assert!(unknown.starts_with("latency-4: unknown; use predicates, packs-halves, "), "{unknown}");
        assert!(unknown.ends_with("; did you mean latency-1?"), "{unknown}");
        assert!(refusal("").starts_with(": unknown; use "));
    }

    /// Every setting has a unique name and a description, and accepts a value of its kind. No setting accepts an
    /// invalid value.
    #[test]
    fn table() {
        for (number, spec) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..number].iter().all(|other| other.name != spec.name), "{} twice", spec.name);
            assert!(spec.help.ends_with('.'), "{}: help is no sentence", spec.name);
            assert!(["on", "1", "1..2"].iter().any(|text| spec.kind.parse(text).is_some()), "{}", spec.name);
            assert!(
                ["nonsense", "-1", "1.5.1", ""].iter().all(|text| spec.kind.parse(text).is_none()),
                "{}",
                spec.name
            );
        }
    }
}
