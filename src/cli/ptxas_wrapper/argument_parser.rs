//! Parses ptxas's arguments into options, values of options, and inputs.
//!
//! Long names follow two dashes, and short names follow one dash. A value follows `=` or is the next argument, whatever
//! the argument looks like. `-O3` and `-m64` join the name with a number. The contents of an options file replace its
//! option, at the same position. If an option is in no table, a run of ptxas shows whether the option takes a value.

use std::path::Path;

use super::options::{OptionValue, Row, by_word};

/// One part of an invocation.
#[derive(Clone, Debug)]
pub(super) enum ParsedArgument {
    /// An option, its value if it takes one, and the arguments that spell the option.
    Option { row: &'static Row, value: Option<String>, spelling: Vec<String> },
    /// An option that is in no table, by its name with the dashes.
    Unknown { name: String, value: Option<String>, spelling: Vec<String> },
    /// An input, by its name.
    Input(String),
}

/// Reason why arguments cannot be read. ptxas gets these arguments unchanged and reports the error itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnreadableArguments(pub String);

/// Sources of information that the arguments do not contain.
#[derive(Clone, Copy)]
pub(super) struct ArgumentSources<'a> {
    /// Reads a file.
    pub(super) open: &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>,
    /// Returns whether a file of a name exists.
    pub(super) exists: &'a dyn Fn(&str) -> bool,
    /// Returns whether ptxas takes a value for an option that is in no table; `None` if ptxas does not know the option.
    pub(super) takes_value: &'a dyn Fn(&str) -> Option<bool>,
}

/// Parses arguments.
pub(super) fn read(
    arguments: &[String],
    sources: ArgumentSources<'_>,
) -> Result<Vec<ParsedArgument>, UnreadableArguments> {
    let mut parsed = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        // A single dash means the standard input.
        if !argument.starts_with('-') || argument == "-" {
            parsed.push(ParsedArgument::Input(argument.clone()));
            continue;
        }
        let mut spelling = vec![argument.clone()];
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        if let Some(row) = by_word(name) {
            let value = match (row.takes, value) {
                (OptionValue::Nothing, Some(_)) => return Err(UnreadableArguments(format!("{name} takes no value"))),
                (OptionValue::Nothing, None) => None,
                (_, Some(value)) => Some(value),
                (OptionValue::JoinedNumber, None) if !name.starts_with("--") => None,
                (_, None) => {
                    let value = rest.next().ok_or_else(|| UnreadableArguments(format!("{name} has no value")))?;
                    spelling.push(value.clone());
                    Some(value.clone())
                }
            };
            parsed.push(ParsedArgument::Option { row, value, spelling });
        } else if let Some((row, number)) = joined(argument) {
            parsed.push(ParsedArgument::Option { row, value: Some(number.to_owned()), spelling });
        } else {
            let takes_value = match value {
                Some(_) => false,
                None => {
                    (sources.takes_value)(name).ok_or_else(|| UnreadableArguments(format!("{name} is not known")))?
                }
            };
            let mut value = value;
            if takes_value {
                let next = rest.next().ok_or_else(|| UnreadableArguments(format!("{name} has no value")))?;
                spelling.push(next.clone());
                value = Some(next.clone());
            }
            parsed.push(ParsedArgument::Unknown { name: name.to_owned(), value, spelling });
        }
    }
    Ok(parsed)
}

/// Splits an argument such as `-O3` or `-m64` into its option and its number.
fn joined(argument: &str) -> Option<(&'static Row, &str)> {
    let (name, number) = argument.split_at_checked(2)?;
    let row = by_word(name).filter(|row| matches!(row.takes, OptionValue::Number | OptionValue::JoinedNumber))?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((row, number))
}

/// Splits a list into its values. Only names of files and functions are accepted: ptxas has quotation marks and escapes
/// for other values.
pub(super) fn list(value: &str) -> Result<Vec<String>, UnreadableArguments> {
    let is_plain = |c: char| c.is_alphanumeric() || "_$%./-+@~:,".contains(c);
    if !value.chars().all(is_plain) {
        return Err(UnreadableArguments(format!("the list '{value}' has unusual characters")));
    }
    Ok(value.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

/// Maximum nesting depth of options files; ptxas has a limit too.
const DEEPEST: usize = 4;

/// Replaces each `--options-file` by the contents of its files.
pub(super) fn expand(
    parsed: Vec<ParsedArgument>,
    is_file: &dyn Fn(&Row) -> bool,
    sources: ArgumentSources<'_>,
    depth: usize,
) -> Result<Vec<ParsedArgument>, UnreadableArguments> {
    let mut expanded = Vec::new();
    for argument in parsed {
        match &argument {
            ParsedArgument::Option { row, value: Some(value), .. } if is_file(row) => {
                if depth == DEEPEST {
                    return Err(UnreadableArguments("options files include each other".into()));
                }
                for name in list(value)? {
                    let bytes = (sources.open)(Path::new(&name))
                        .map_err(|error| UnreadableArguments(format!("{name}: {error}")))?;
                    let text =
                        String::from_utf8(bytes).map_err(|_| UnreadableArguments(format!("{name} is not UTF-8")))?;
                    expanded.extend(expand(read(&split(&text)?, sources)?, is_file, sources, depth + 1)?);
                }
            }
            _ => expanded.push(argument),
        }
    }
    Ok(expanded)
}

/// Splits an options file into arguments: white space separates them, quotation marks preserve white space, and a
/// backslash preserves the next character. Apostrophes and hashes are ordinary letters.
fn split(text: &str) -> Result<Vec<String>, UnreadableArguments> {
    let mut arguments = Vec::new();
    let mut argument: Option<String> = None;
    let mut is_quoted = false;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                argument.get_or_insert_default();
            }
            '\\' if is_quoted => {
                return Err(UnreadableArguments("an options file has a backslash between quotation marks".into()));
            }
            '\\' => argument.get_or_insert_default().extend(letters.next()),
            _ if letter.is_whitespace() && !is_quoted => arguments.extend(argument.take()),
            _ => argument.get_or_insert_default().push(letter),
        }
    }
    if is_quoted {
        return Err(UnreadableArguments("an options file ends between quotation marks".into()));
    }
    arguments.extend(argument);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let takes_value = |name: &str| match name {
            "--hidden" => Some(true),
            "-flag" => Some(false),
            _ => None,
        };
        let open = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
        let sources = ArgumentSources { open: &open, exists: &|_| false, takes_value: &takes_value };
        let parsed = read(&arguments, sources).map_err(|unread| unread.0)?;
        let one = |argument: &ParsedArgument| match argument {
            ParsedArgument::Input(name) => format!("<{name}>"),
            ParsedArgument::Option { row, value: None, .. } => row.long.to_owned(),
            ParsedArgument::Option { row, value: Some(value), .. } => format!("{}={value}", row.long),
            ParsedArgument::Unknown { name, value, spelling } => format!("({name} {value:?} {})", spelling.join("|")),
        };
        Ok(parsed.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    /// The parser accepts each form that ptxas accepts, and leaves each form that ptxas refuses to ptxas.
    #[test]
    fn forms_of_options() {
        let good = [
            (&["-arch=sm_90", "a.ptx"][..], "gpu-name=sm_90 <a.ptx>"),
            (&["-arch", "sm_90", "a.ptx"], "gpu-name=sm_90 <a.ptx>"),
            (&["--gpu-name", "sm_90"], "gpu-name=sm_90"),
            (&["-o", "-v"], "output-file=-v"),
            (&["-o="], "output-file="),
            (&["-O3", "-O=2", "--opt-level", "1"], "opt-level=3 opt-level=2 opt-level=1"),
            (&["-O", "3"], "opt-level <3>"),
            (&["-m64", "-m", "64", "-m=64"], "machine=64 machine=64 machine=64"),
            (&["-Ofc", "max"], "Ofast-compile=max"),
            (&["-maxntid=128,2"], "maxntid=128,2"),
            (&["-", "x=y", ""], "<-> <x=y> <>"),
            (&["-ias", "-v"], "input-as-string=-v"),
            (&["--other=1", "-x=", "a.ptx"], "(--other Some(\"1\") --other=1) (-x Some(\"\") -x=) <a.ptx>"),
            (&["--hidden", "2", "a.ptx"], "(--hidden Some(\"2\") --hidden|2) <a.ptx>"),
            (&["--hidden", "-v", "-flag", "a.ptx"], "(--hidden Some(\"-v\") --hidden|-v) (-flag None -flag) <a.ptx>"),
        ];
        for (arguments, expected) in good {
            assert_eq!(shown(arguments).as_deref(), Ok(expected), "{arguments:?}");
        }
        let bad: [(&[&str], &str); 9] = [
            (&["-v=true"], "-v takes no value"),
            (&["a.ptx", "-o"], "-o has no value"),
            (&["-ox.o"], "-ox.o is not known"),
            (&["-O3x"], "-O3x is not known"),
            (&["-Ofcmax"], "-Ofcmax is not known"),
            (&["-maxrregcount32"], "-maxrregcount32 is not known"),
            (&["--verb"], "--verb is not known"),
            (&["--"], "-- is not known"),
            (&["a.ptx", "--hidden"], "--hidden has no value"),
        ];
        for (arguments, expected) in bad {
            assert_eq!(shown(arguments), Err(expected.to_owned()), "{arguments:?}");
        }
    }

    /// Options files are split as ptxas splits them.
    #[test]
    fn files_of_options() {
        let cut = |text: &str| split(text).map_err(|unread| unread.0);
        assert_eq!(cut("-v\n-o \"x y.o\"\ta.ptx ").expect("words"), ["-v", "-o", "x y.o", "a.ptx"]);
        assert_eq!(cut("-o x\\ y\\n.o").expect("words"), ["-o", "x yn.o"]);
        assert_eq!(cut("# it's \"\"").expect("words"), ["#", "it's", ""]);
        assert_eq!(cut("").expect("words"), [""; 0]);
        assert!(cut("\"a\\\"").is_err() && cut("\"a").is_err());
    }

    /// Lists are split at commas; values that need quotation marks are left to ptxas.
    #[test]
    fn lists() {
        assert_eq!(list("ka,,kb,").expect("two names"), ["ka", "kb"]);
        assert_eq!(list("").expect("none"), [""; 0]);
        for odd in ["\"ka\"", "a b", "a\\,b", "it's"] {
            assert!(list(odd).is_err(), "{odd}");
        }
    }
}
