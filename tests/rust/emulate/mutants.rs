//! Mutants: kernels with one fault each, told from the originals.

use std::collections::BTreeMap;

use nvptx_ra::emulate::{Launches, Program, Verdict, compare_programs};

use super::{drawn, program, text};

/// The faults, by name.
const KINDS: [&str; 7] = [
    "store dropped",
    "operands swapped",
    "predicate turned",
    "offset wrong",
    "constant wrong",
    "edge redirected",
    "barrier gone",
];

/// The lines of instructions of a kernel.
fn body(text: &str, kernel: &str) -> std::ops::Range<usize> {
    let start = text.find(&format!(".entry {kernel}(")).expect("the kernel");
    let from = start + text[start..].find("\n{").expect("a body");
    from..from + text[from..].find("\n}").expect("an end")
}

/// What a fault makes of a line; `None` where it cannot be there.
fn mutated(kind: &str, line: &str, labels: &[&str], number: u32) -> Option<String> {
    let code = line.trim_start();
    let (guard, rest) = match code.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ').map(|(guard, rest)| (Some(guard), rest.trim_start()))?,
        None => (None, code),
    };
    match kind {
        "store dropped" => rest.starts_with("st.").then(String::new),
        "barrier gone" => (rest.starts_with("bar.") || rest.starts_with("barrier.")).then(String::new),
        "predicate turned" => {
            let guard = guard?;
            let turned = guard.strip_prefix('!').map_or_else(|| format!("!{guard}"), str::to_owned);
            Some(format!("@{turned} {rest}"))
        }
        "offset wrong" => {
            let word = rest.split('.').next()?;
            if !matches!(word, "ld" | "st") || rest.contains(".param") {
                return None;
            }
            let close = line.find(']')?;
            let open = line.find('[')?;
            let inner = &line[open + 1..close];
            let step = if rest.contains("64") { 8 } else { 4 };
            let changed = match inner.split_once('+') {
                Some((base, offset)) => format!("{base}+{}", offset.parse::<i64>().ok()? + step),
                None => format!("{inner}+{step}"),
            };
            Some(format!("{}{changed}{}", &line[..=open], &line[close..]))
        }
        "operands swapped" => {
            let word = rest.split('.').next()?;
            if !matches!(word, "sub" | "setp" | "div" | "rem" | "shl" | "shr" | "selp" | "fma" | "mad")
                || rest.contains(".eq")
                || rest.contains(".ne")
            {
                return None;
            }
            let end = line.rfind(';')?;
            let (head, list) =
                line[..end].split_at(line.find(|c: char| c == '%' && !line.trim_start().starts_with('@'))?);
            let mut operands: Vec<&str> = list.split(',').map(str::trim).collect();
            let (first, second) = if matches!(word, "fma" | "mad") { (2, 3) } else { (1, 2) };
            if operands.len() <= second
                || operands[first] == operands[second]
                || !operands[first].starts_with('%')
                || !operands[second].starts_with('%')
            {
                return None;
            }
            // Registers of different classes cannot change places.
            let class = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
            if class(operands[first]) != class(operands[second]) {
                return None;
            }
            operands.swap(first, second);
            Some(format!("{head}{};", operands.join(", ")))
        }
        "constant wrong" => {
            let end = line.rfind(';')?;
            let (before, constant) = line[..end].rsplit_once(", ")?;
            let value: i64 = constant.trim().parse().ok()?;
            if rest.starts_with("shfl") || rest.starts_with("vote") || rest.starts_with("bar") {
                return None;
            }
            Some(format!("{before}, {};", value + 1))
        }
        "edge redirected" => {
            let at = line.find("$L")?;
            if !rest.starts_with("bra") {
                return None;
            }
            let label = line[at..].trim_end_matches(';').trim();
            let others: Vec<&&str> = labels.iter().filter(|other| **other != label).collect();
            let other = others.get(number as usize % others.len().max(1))?;
            Some(format!("{}{other};", &line[..at]))
        }
        _ => None,
    }
}

/// The mutants of a kernel: what is wrong, with the line, and the text.
fn mutants(text: &str, kernel: &str, count: usize, seed: u32) -> Vec<(&'static str, String, String)> {
    let range = body(text, kernel);
    let lines: Vec<&str> = text[range.clone()].lines().collect();
    let labels: Vec<&str> = lines.iter().filter_map(|line| line.trim().strip_suffix(':')).collect();
    let mut found = Vec::new();
    let mut numbers = drawn(4000, seed).into_iter();
    let mut seen = std::collections::BTreeSet::new();
    while let (true, Some(place), Some(salt)) = (found.len() < count, numbers.next(), numbers.next()) {
        let kind = KINDS[found.len() % KINDS.len()];
        let place = place as usize % lines.len();
        // A fault that no line can have gives way to the next kind.
        let order = (0..lines.len()).map(|step| (place + step) % lines.len());
        let choice = order.into_iter().find_map(|at| {
            let line = mutated(kind, lines[at], &labels, salt)?;
            (!seen.contains(&(at, line.clone()))).then_some((at, line))
        });
        let Some((at, line)) = choice else {
            found.push((kind, String::new(), String::new()));
            continue;
        };
        seen.insert((at, line.clone()));
        let mut changed: Vec<&str> = lines.clone();
        changed[at] = &line;
        let whole = format!("{}{}{}", &text[..range.start], changed.join("\n"), &text[range.end..]);
        found.push((kind, format!("{} -> {}", lines[at].trim(), line.trim()), whole));
    }
    found.retain(|mutant| !mutant.2.is_empty());
    found
}

/// How a mutant is told from the original: by what it stores, by a reason why nothing can be said of it, or not at all.
fn verdict(original: &Program, mutant: &Program, kernel: &str) -> &'static str {
    let launches = Launches { count: 6, most_steps: 60_000, is_exact: true, ..Launches::default() };
    let comparison = compare_programs(original, mutant, kernel, &launches);
    let is_refused = |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { program: 1, .. });
    if comparison.difference().is_some() {
        "different"
    } else if comparison.launches.iter().any(|launched| is_refused(&launched.verdict)) {
        "refused"
    } else {
        "survives"
    }
}

/// Nine of ten mutants are told apart, barriers left aside.
#[test]
fn most_are_found() {
    let kernels = [
        ("scan.ptx", "prefix_sum", 58),
        ("reduce.ptx", "sum", 52),
        ("reduce.ptx", "smallest", 54),
        ("spmv.ptx", "spmv_thread", 28),
        ("spmv.ptx", "spmv_merge", 62),
    ];
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for (seed, (file, kernel, count)) in kernels.into_iter().enumerate() {
        let text = text(file);
        let original = program(&text);
        for (kind, what, mutant) in mutants(&text, kernel, count, seed as u32 + 1) {
            let verdict = verdict(&original, &program(&mutant), kernel);
            let place = ["different", "refused", "survives"].iter().position(|one| *one == verdict).expect("a verdict");
            counts.entry(kind).or_default()[place] += 1;
            if verdict == "survives" {
                println!("{kernel}: survives: {kind}: {what}");
            }
        }
    }
    let mut all = [0; 3];
    for (kind, [different, refused, survives]) in &counts {
        println!("{kind}: {different} differ, {refused} are refused, {survives} survive");
        if *kind != "barrier gone" {
            all.iter_mut().zip([different, refused, survives]).for_each(|(all, one)| *all += one);
        }
    }
    let total: usize = all.iter().sum();
    println!("of {total} without barriers {} differ, {} are refused, {} survive", all[0], all[1], all[2]);
    assert!(10 * (all[0] + all[1]) >= 9 * total, "{} of {total} survive", all[2]);
    assert!(total >= 150, "{total} mutants");
}
