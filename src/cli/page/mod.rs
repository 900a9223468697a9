//! Pages for a browser: one file without scripts that loads nothing, in the browser's light or dark mode.
//!
//! Every text goes through maud, which escapes it: names of kernels and lines of source may contain anything.

pub(crate) mod chart;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// If a page has at most this many kernels, all are expanded. Otherwise, only one is expanded, and a click expands
/// another.
pub(crate) const ALL_SHOWN: usize = 3;

/// Returns a complete page: its header and the rest.
pub(crate) fn shell(title: &str, said: &Markup, rest: &Markup) -> String {
    // The policy makes the browser refuse to load or run anything.
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header {
                    h1 { (title) }
                    (said)
                }
                (rest)
            }
        }
    };
    page.into_string() + "\n"
}

/// Asserts that a page is one file that neither runs nor loads anything, and that it has a policy for the browser.
#[cfg(test)]
pub(crate) fn assert_loads_nothing(page: &str) {
    assert!(!page.contains("<script") && page.matches("<style").count() == 1);
    assert!(page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// Returns a legend's entry. Its text stays on one line with its mark.
pub(crate) fn key(class: &str, text: &str) -> Markup {
    html! { span.entry { span.key.(class) {} (text) } }
}

/// Returns a caption's suffix for a curve whose steps are `stride` instructions wide.
pub(crate) fn most_of(stride: u32) -> String {
    if stride > 1 { format!(", the most of each {stride} instructions") } else { String::new() }
}

/// Shows a part of a whole as a bar.
pub(crate) fn bar(part: u32, whole: u32) -> Markup {
    let percent = u64::from(part) * 100 / u64::from(whole.max(1));
    html! { div.bar { div style=(format!("width:{percent}%")) {} } }
}

/// Formats a number of things: "1 kernel", "2 kernels".
pub(crate) fn counted(number: usize, name: &str) -> String {
    format!("{} {name}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// Formats a number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
