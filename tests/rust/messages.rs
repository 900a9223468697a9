//! The texts that users read: messages of errors and remarks, and the help of every command. Each kind is in one golden
//! file. `UPDATE_EXPECT=1 cargo test` updates the files; review the difference. Messages of failed assertions, markup
//! of pages and table rows are excluded.

use super::golden;
use super::sources;
use std::fs;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// Macros with strings for developers, or with pages.
const OTHERS: [&str; 10] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "html",
    "panic",
    "trace",
    "unimplemented",
    "unreachable",
];

/// The sentences of a file, in order: string literals of several words, outside of tests, attributes, assertions and
/// pages.
#[derive(Default)]
struct Sentences {
    texts: Vec<String>,
}

impl<'ast> Visit<'ast> for Sentences {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| attribute.to_token_stream().to_string().contains("cfg (test)");
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let text = literal.value();
        // A string with column widths is a table row.
        let is_word =
            |word: &&str| !word.contains(":<") && !word.contains(":>") && word.chars().any(char::is_alphabetic);
        if text.split_whitespace().filter(is_word).count() >= 3 {
            self.texts.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        if call.method != "expect" {
            call.args.iter().for_each(|argument| self.visit_expr(argument));
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.segments.last().is_some_and(|name| OTHERS.iter().any(|other| name.ident == other)) {
            return;
        }
        self.visit_tokens(call.tokens.clone());
    }
}

impl Sentences {
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut is_attribute = false;
        for tree in tokens {
            let follows_a_hash = is_attribute;
            is_attribute = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#');
            match tree {
                TokenTree::Group(_) if follows_a_hash => {}
                TokenTree::Group(group) => self.visit_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) {
                        self.visit_lit_str(&text);
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn messages_are_read_in_a_row() {
    let mut page = String::new();
    for path in sources::files(&sources::src()) {
        let name = path.strip_prefix(sources::src()).expect("a file of the sources").to_string_lossy().into_owned();
        // Tables of opcodes are not sentences, and messages of fuzzing are for developers.
        if name.contains("tests")
            || name.contains("drawn_")
            || name.starts_with("fuzzing")
            || name.starts_with("lab")
            || name.contains("/page")
            || name.starts_with("target/rules")
            || name.starts_with("target/ptx")
        {
            continue;
        }
        let file = syn::parse_file(&fs::read_to_string(&path).expect("a source is text")).expect("a source is Rust");
        let mut messages = Sentences::default();
        messages.visit_file(&file);
        if !messages.texts.is_empty() {
            page += &format!("\n{name}\n");
            messages.texts.iter().for_each(|text| page += &format!("  {text}\n"));
        }
    }
    golden::expect("messages.txt", page.trim_start());
}
