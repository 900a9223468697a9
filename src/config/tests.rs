//! Properties of the layers, the grammar and the descriptions.

use super::*;
use crate::error::ErrorKind;

fn parameters(text: &str) -> Result<Config, Error> {
    Config::resolve(&Layers { parameters: text, ..Layers::default() })
}

fn refusal(text: &str) -> String {
    let error = parameters(text).expect_err(text).in_function("k");
    assert_eq!(error.kind, ErrorKind::Option);
    error.to_string()
}

/// A stronger layer overrides a weaker one, option by option.
#[test]
fn precedence_is_parameter_command_line_attribute_default() {
    let layers = Layers {
        parameters: "copy-limit=1",
        command_line: "copy-limit=2;coalesce-limit=2;stats=/s",
        attribute: "copy-limit=3;coalesce-limit=3;late-remat-update-threshold=3",
    };
    let config = Config::resolve(&layers).unwrap();
    assert_eq!((config.copy_limit, config.coalesce_limit, config.late_remat_update_threshold), (1, 2, 3));
    assert_eq!(config.large_interval_size_threshold, 100);
    assert_eq!(config.stats.as_deref(), Some(std::path::Path::new("/s")));
}

/// A switch is on if it is given alone, off with the prefix `no-`, and accepts on and off. The last assignment counts.
#[test]
fn switches() {
    let config = parameters(" verify ; no-terminal-rule;strict=on;wide-pairs=off;optnone;no-optnone;; ").unwrap();
    assert!(config.verify && config.strict && !config.terminal_rule && !config.wide_pairs && !config.optnone);
}

/// A stronger layer can switch off the switch of a weaker layer.
#[test]
fn a_default_given_explicitly_overrides() {
    let layers = Layers { parameters: "no-verify", command_line: "verify", attribute: "" };
    assert!(!Config::resolve(&layers).unwrap().verify);
}

/// The attribute `off` disables the function with any other options, and no other attribute does.
#[test]
fn attribute_off() {
    let off = Layers { attribute: " off ", parameters: "verify", ..Layers::default() };
    let config = Config::resolve(&off).unwrap();
    assert!(!config.enabled && config.verify);
    assert!(Config::default().enabled);
    assert!(Config::check("off", Origin::Attribute).is_ok());
    assert!(refusal("off").contains("give off alone"));
}

/// Each error names the origin, the option, the problem and the allowed values.
#[test]
fn refusals_name_what_is_allowed() {
    let layers = Layers { command_line: "position=befor", ..Layers::default() };
    assert_eq!(
        Config::resolve(&layers).unwrap_err().in_function("k").to_string(),
        "nvptx-ra: kernel 'k': command line: position=befor: unknown; use before, after, instead or off; \
         did you mean before?"
    );
    for (text, expected) in [
        ("verfy", "verfy: unknown option; did you mean verify? `nvptx-ra explain --all` lists the options"),
        ("no-verfy", "no-verfy: unknown option; did you mean verify?"),
        ("quux=1", "quux=1: unknown option; `nvptx-ra explain --all` lists the options"),
        ("verify=maybe", "verify=maybe: neither on nor off; use on or off"),
        ("no-verify=on", "no-verify=on: a switch with no- takes no value; use verify or no-verify"),
        ("no-copy-limit", "no-copy-limit: not a switch; use copy-limit=N"),
        ("copy-limit", "copy-limit: no value; use copy-limit=N"),
        ("copy-limit=", "copy-limit=: no value; use a whole number from 0 to 4294967295"),
        ("copy-limit=-1", "copy-limit=-1: not a whole number; use a whole number from 0 to 4294967295"),
        ("copy-limit=+1", "copy-limit=+1: not a whole number"),
        ("copy-limit=4294967296", "copy-limit=4294967296: out of range; use a whole number from 0 to 4294967295"),
        ("priority=frequence", "did you mean frequency?"),
        ("trace=livenes", "trace=livenes: unknown; use none, all, or some of classify, liveness, candidates"),
        ("stats=", "stats=: no value; use a path"),
        ("preset=brigs", "preset=brigs: unknown; use hw, cicc or ptxas"),
        (
            "allocator-set=tuples=on,latency-1=x",
            "allocator-set=tuples=on,latency-1=x: latency-1=x: not allowed; use a number from 0",
        ),
        ("allocator-set=", "allocator-set=: no value; use none, or settings NAME=VALUE, separated by commas"),
        ("=x", "=x: unknown option"),
        ("position=after", "position=after: the option is read before there is a function; use -nvptx-ra-position=…"),
    ] {
        let message = refusal(text);
        assert!(message.starts_with("nvptx-ra: kernel 'k': pass parameters: "), "{message}");
        assert!(message.contains(expected), "{message}\n  lacks {expected}");
    }
}

/// For a removed value, the error names the replacement, and a file of an earlier version is read without the value.
#[test]
fn removed_values() {
    for (text, expected) in [
        ("order=auto", "order=auto: removed; name an order, as in order=eager; `nvptx-ra tune` finds the best"),
        (
            "skip-passes=auto",
            "skip-passes=auto: removed; name the passes to skip, as in skip-passes=loop-reduce; `nvptx-ra tune` finds",
        ),
        ("skip-passes=gvn+auto", "skip-passes=gvn+auto: removed; name the passes to skip"),
    ] {
        let message = refusal(text);
        assert!(message.contains(expected), "{message}\n  lacks {expected}");
    }
    let before = "verify;order=auto;order-seed=3;skip-passes=gvn+auto";
    assert_eq!(of_earlier_version(before), "verify;order-seed=3;skip-passes=gvn");
    for kept in ["", "off", "bit-spill=auto", "regalloc=auto;no-rename", "skip-passes=gvn+most", r"stats=/a\;b\\c"] {
        assert_eq!(of_earlier_version(kept), kept);
    }
}

/// An option's earlier name is an error that gives the new name, from all origins. A file of an earlier version is read
/// with the new names.
#[test]
fn renamed_options() {
    for (text, expected) in [
        ("skip=gvn", "skip=gvn: renamed; use skip-passes"),
        ("skip=auto", "skip=auto: renamed; use skip-passes"),
        ("skip", "skip: renamed; use skip-passes"),
        ("no-add", "no-add: renamed; use add-passes"),
        ("add=sink", "add=sink: renamed; use add-passes"),
        ("usedessa=1", "usedessa=1: renamed; use cssa-interference"),
    ] {
        for origin in [Origin::Attribute, Origin::CommandLine, Origin::Parameters] {
            let message = Config::check(text, origin).expect_err(text).to_string();
            assert!(message.contains(origin.name()) && message.ends_with(expected), "{message}\n  lacks {expected}");
        }
        let name = text.split('=').next().unwrap_or_default();
        assert!(explain(name).expect_err(name).to_string().contains(": renamed; use "), "{name}");
    }
    let before = "verify;skip=gvn+auto;add=sink;usedessa=1;order=late";
    let now = "verify;skip-passes=gvn;add-passes=sink;cssa-interference=1;order=late";
    assert_eq!(of_earlier_version(before), now);
    assert!(Config::check(now, Origin::Attribute).is_ok());
    for (earlier, now) in removed::renamed() {
        assert!(find(earlier).is_none() && find(now).is_some(), "{earlier}");
        assert_eq!(first_name(now), earlier);
        let info = (0..option_count()).filter_map(option_at).find(|info| info.name == earlier).expect(earlier);
        assert!(info.hidden && info.is_switch && info.help.contains(now), "{info:?}");
    }
}

/// A module cannot make the compiler write files.
#[test]
fn attributes_name_no_files() {
    for text in ["stats=/etc/passwd", "bundle=/"] {
        let error = Config::check(text, Origin::Attribute).unwrap_err().to_string();
        assert!(error.contains("function attribute: ") && error.contains("not allowed here"), "{error}");
        assert!(Config::check(text, Origin::CommandLine).is_ok());
    }
}

/// An invalid option does not hide whether errors are fatal.
#[test]
fn valid_part_of_wrong_options() {
    let layers = Layers { command_line: "nonsense;strict", parameters: "copy-limit=x", ..Layers::default() };
    assert!(Config::resolve(&layers).is_err());
    assert!(Config::resolve_valid(&layers).strict);
}

/// Lists are joined by `+`.
#[test]
fn trace_is_a_list() {
    assert_eq!(parameters("trace=edits+classify").unwrap().trace, Trace::EDITS | Trace::CLASSIFY);
    assert_eq!(parameters("trace=all").unwrap().trace, Trace::all());
    assert_eq!(parameters("trace=none").unwrap().trace, Trace::empty());
    assert_eq!(parameters("trace=edits+classify").unwrap().to_parameters(), "trace=classify+edits");
}

/// Printed options are in the order of the table, without defaults, and are parsed to the same options.
#[test]
fn prints_back() {
    assert_eq!(Config::default().to_parameters(), "");
    let text = r"copy-limit=7;no-wide-pairs;stats=/a\;b\\c=d;priority=register;verify";
    let config = parameters(text).unwrap();
    assert_eq!(config.stats.as_deref(), Some(std::path::Path::new(r"/a;b\c=d")));
    let printed = config.to_parameters();
    assert_eq!(printed, r"verify;stats=/a\;b\\c=d;no-wide-pairs;priority=register;copy-limit=7");
    assert_eq!(parameters(&printed).unwrap(), config);
}

/// Every option accepts every value that its help lists, and prints the same value. Names are unique and in use.
#[test]
fn table_is_consistent() {
    for (index, spec) in OPTIONS.iter().enumerate() {
        assert!(OPTIONS[..index].iter().all(|other| other.name != spec.name), "{} twice", spec.name);
        assert!(spec.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", spec.name);
        assert!(!spec.name.starts_with("no-"), "{}: would read as a negated switch", spec.name);
        assert!(spec.help.ends_with('.'), "{}: help is no sentence", spec.name);
        assert!(matches!(spec.shape, Shape::Integer { .. }) != spec.unit.is_empty(), "{}: unit", spec.name);
        for value in values(&spec.shape) {
            let text = format!("{}={value}", spec.name);
            let layers = Layers { command_line: &text, ..Layers::default() };
            let config = Config::resolve(&layers).unwrap();
            assert_eq!(spec.value(&config), value, "{text}");
            let printed = config.to_parameters();
            let again = Config::resolve(&Layers { command_line: &printed, ..Layers::default() }).unwrap();
            assert_eq!(again, config, "{printed}");
        }
    }
}

fn values(shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Switch => vec!["on".into(), "off".into()],
        Shape::Integer { min, max } => vec![min.to_string(), max.to_string()],
        Shape::Choice(choices) | Shape::List(choices) => choices.iter().map(|choice| choice.name.to_owned()).collect(),
        Shape::ChoiceOrInteger { choices, min, max } => {
            let words = choices.iter().map(|choice| choice.name.to_owned());
            words.chain([min.to_string(), max.to_string()]).collect()
        }
        Shape::Path => vec!["/tmp/x y;z\\".replace(['\\', ';'], "")],
        Shape::Registers => vec!["none".into(), "%r1:7+%rd2".into(), "%r1:7@1.2x10@4x1".into()],
        Shape::Settings(_) => vec!["none".into(), "latency-1=4+tuples=off".into()],
    }
}

/// Each option that C++ registers has a help text with type and default.
#[test]
fn registration_info() {
    assert_eq!(option_count(), OPTIONS.len() + removed::renamed().count());
    assert!(option_at(option_count()).is_none());
    let info = (0..option_count()).filter_map(option_at).find(|info| info.name == "copy-limit").unwrap();
    assert_eq!(
        info.help,
        "Considers at most this many copies in a function; 0 considers all. \
         Whole number from 0 to 4294967295. Default: 0 copies."
    );
    assert_eq!((info.meta.as_str(), info.is_switch, info.hidden), ("N", false, true));
    let info = (0..option_count()).filter_map(option_at).find(|info| info.name == "verify").unwrap();
    assert_eq!((info.meta.as_str(), info.is_switch, info.hidden), ("on|off", true, false));
}

/// An option is found under each form of its name that users see. A wrong name is an error with a hint.
#[test]
fn explain_finds_and_hints() {
    for name in ["verify", "-nvptx-ra-verify", "--nvptx-ra-verify=on", "no-verify"] {
        assert!(explain(name).unwrap().starts_with("verify=on|off\n"), "{name}");
    }
    assert!(explain("verfy").unwrap_err().to_string().contains("did you mean verify?"));
    assert!(!explain_all(false).contains("inject") && explain_all(true).contains("inject"));
}

/// The two pages agree with the table. `UPDATE_EXPECT=1` rewrites them.
#[test]
fn pages_are_in_step() {
    for (name, made) in [("options.md", options_page()), ("options-for-developers.md", developers_page())] {
        let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == made, "docs/{name} is out of step: run `UPDATE_EXPECT=1 cargo test`");
    }
}

/// Each option has one entry, on one of the two pages. The page for users is short enough to read.
#[test]
fn each_option_is_on_one_page() {
    let (users, developers) = (options_page(), developers_page());
    let entries = |page: &str| page.lines().filter(|line| line.starts_with("### ")).count();
    for spec in OPTIONS {
        let entry = format!("\n### `{}`\n", spec.name);
        let found = [&users, &developers].map(|page| page.matches(&entry).count());
        let expected = if spec.audience == Audience::Users { [1, 0] } else { [0, 1] };
        assert_eq!(found, expected, "{}", spec.name);
    }
    assert_eq!(entries(&users) + entries(&developers), OPTIONS.len());
    assert!(entries(&users) <= 25, "{} options for users", entries(&users));
}

/// No text makes the parser panic. Accepted text is printed as text that is parsed to the same options.
#[test]
fn any_text_is_read_or_refused() {
    arbtest::arbtest(|u| {
        let mut text = String::new();
        if u.arbitrary()? {
            let characters: Vec<char> = ('a'..='z').chain('0'..='9').chain("=;\\+-".chars()).collect();
            for _ in 0..u.int_in_range(0..=40)? {
                text.push(*u.choose(&characters)?);
            }
        } else {
            for _ in 0..u.int_in_range(0..=5)? {
                match *u.choose(&["verify", "no-strict", "copy-limit=", "trace=edits", "trace=all", ";"])? {
                    "copy-limit=" => text += &format!("copy-limit={}", u.int_in_range(0..=99_999_999_999_u64)?),
                    part => text += part,
                }
            }
        }
        if let Ok(config) = parameters(&text) {
            assert_eq!(parameters(&config.to_parameters()).unwrap(), config, "{text}");
        }
        Ok(())
    })
    .budget_ms(500);
}
