//! Pages for a browser: one file without scripts that loads nothing, light or dark as the browser wants it.
//!
//! Every text goes through maud, which escapes it: names of kernels and lines of source are whatever somebody wrote.

pub(crate) mod chart;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Pages with more kernels show only one of them; a click opens the others.
pub(crate) const ALL_SHOWN: usize = 3;

/// A page of its own: what it says at its head, and the rest.
pub(crate) fn shell(title: &str, said: &Markup, rest: &Markup) -> String {
    // Nothing is loaded and nothing is run, and the browser sees to it.
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

/// A page is one file that runs and loads nothing, and says so to the browser.
#[cfg(test)]
pub(crate) fn assert_loads_nothing(page: &str) {
    assert!(!page.contains("<script") && page.matches("<style").count() == 1);
    assert!(page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// What a colour or line of a chart means. It stays on one line with its mark.
pub(crate) fn key(class: &str, text: &str) -> Markup {
    html! { span.entry { span.key.(class) {} (text) } }
}

/// What is said of a curve along code whose steps are so many instructions wide.
pub(crate) fn most_of(stride: u32) -> String {
    if stride > 1 { format!(", the most of each {stride} instructions") } else { String::new() }
}

/// A part of a whole, as a bar.
pub(crate) fn bar(part: u32, whole: u32) -> Markup {
    let percent = u64::from(part) * 100 / u64::from(whole.max(1));
    html! { div.bar { div style=(format!("width:{percent}%")) {} } }
}

/// A number of things, with their name: "1 kernel", "2 kernels".
pub(crate) fn counted(number: usize, name: &str) -> String {
    format!("{} {name}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// A number with its thousands apart.
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
