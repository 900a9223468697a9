//! Kernels around pure instructions, with different sources of their operands.

use std::fmt::Write;

use super::operands::{Way, registers, resolved, results, source, type_of, types};
use super::pattern::expanded;
use super::rows::{Bits, Row};
use super::{Experiment, head};

/// Returns the PTX module of a row.
pub(super) fn experiment(row: &Row, seed: u64) -> Experiment {
    let mut text = head(row.processor, false);
    let of_row = row.name.bytes().fold(seed, |hash, byte| Drawn(hash ^ u64::from(byte)).next());
    for (number, instructions) in row.patterns.iter().flat_map(|pattern| expanded(pattern)).enumerate() {
        let mut drawn = Drawn(of_row ^ number as u64);
        kernel(&mut text, &instructions, number, row.bits == Bits::Approximate, &mut drawn);
    }
    Experiment {
        name: row.name.to_owned(),
        text,
        processor: row.processor,
        is_specific: false,
        is_exact: row.bits == Bits::All,
    }
}

/// Pseudo-random numbers: splitmix64.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Draws a constant: one at a limit, a small one, a floating-point number, or any bits.
    fn constant(&mut self, ty: &str) -> u64 {
        const LIMITS: [u64; 6] = [u64::MAX, 0, 1, 0x8000_0000_8000_8000, 0x7fff_ffff_7fff_ffff, 0xffff];
        const FLOATS: [u32; 6] = [0x3f80_0000, 0xbf00_0000, 0x7f80_0000, 0x0000_0005, 0x4049_0fdb, 0xff7f_ffff];
        const HALVES: [u64; 6] = [0x3c00, 0xb800, 0x7c00, 0x0005, 0x4248, 0xfbff];
        let which = self.next() as usize % 6;
        let kind = self.next() % 4;
        match ty {
            "f32" if kind < 3 => FLOATS[which].into(),
            "f64" if kind < 3 => (f64::from(f32::from_bits(FLOATS[which]))).to_bits(),
            "f16" | "f16x2" | "bf16" | "bf16x2" if kind < 3 => {
                let half = if ty.starts_with('b') { u64::from(FLOATS[which] >> 16) } else { HALVES[which] };
                half | half << 16
            }
            _ if kind == 0 => LIMITS[which],
            _ if kind == 1 => self.next() % 65,
            _ => self.next(),
        }
    }
}

/// Whether a result depends on the sign of a NaN.
fn takes_signs(mnemonic: &str) -> bool {
    ["copysign", "testp"].iter().any(|word| mnemonic.starts_with(word)) || mnemonic.contains("xorsign")
}

/// Returns the sources of all operands in each variant of a kernel.
fn variants(count: usize, mnemonic: &str, ty: &str, drawn: &mut Drawn) -> Vec<Vec<Way>> {
    let mut all = vec![vec![Way::Loaded; count], vec![Way::Bits; count]];
    for number in 0..count {
        for way in [Way::Constant(drawn.constant(ty)), Way::Constant(drawn.constant(ty)), Way::Parameter] {
            let mut ways = vec![if drawn.next().is_multiple_of(2) { Way::Loaded } else { Way::Bits }; count];
            ways[number] = way;
            all.push(ways);
        }
        // PTX does not define the absolute value of the smallest integer, nor the sign of a negated NaN.
        let signs: &[Way] = match ty {
            "f32" | "f64" | "f16" | "f16x2" | "bf16" | "bf16x2" if takes_signs(mnemonic) => &[],
            "f32" if mnemonic.starts_with("slct") => &[Way::Negated],
            "f32" | "f64" | "f16" | "f16x2" | "bf16" | "bf16x2" => &[Way::Negated, Way::Absolute],
            "s32" | "s64" if !mnemonic.starts_with("cvt") => &[Way::Negated],
            _ => &[],
        };
        for &way in signs {
            let mut ways = vec![Way::Loaded; count];
            ways[number] = way;
            all.push(ways);
        }
    }
    // All operands are the same in all threads.
    all.push(vec![Way::Parameter; count]);
    all
}

/// Appends a kernel of instructions to the PTX module.
fn kernel(text: &mut String, instructions: &str, number: usize, is_approximate: bool, drawn: &mut Drawn) {
    let mnemonic = instructions.split(' ').next().unwrap_or_default();
    let name: String = mnemonic.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    let mut instructions = instructions.to_owned();
    while let Some(at) = instructions.find('#') {
        instructions.replace_range(at..at + 2, &format!("0x{:x}", drawn.next() & 0xff));
    }
    let (instructions, limits) = resolved(&instructions);
    let all = registers(&instructions);
    let written = results(&instructions);
    let is_result = |register: &String| written.contains(register);
    let sources: Vec<&String> = all.iter().filter(|register| !is_result(register)).collect();
    let ty = types(mnemonic).last().copied().unwrap_or("b32").to_owned();
    let sign_class = match ty.as_str() {
        "f64" | "s64" => 'd',
        "f16" | "bf16" | "s16" => 'h',
        _ => 'r',
    };
    let mut variants = variants(sources.len(), mnemonic, &ty, drawn);
    if is_approximate {
        // PTX bounds the error of some functions only near zero, and the error of others only for numbers above zero.
        let ways = variants.iter_mut().flatten().filter(|way| !matches!(way, Way::Loaded | Way::Parameter));
        ways.for_each(|way| *way = Way::Absolute);
    }
    let (input, output) = (variants.len() * (all.len() + 1) * 8, (variants.len() + 2) * written.len() * 8);
    _ = write!(
        text,
        ".visible .entry k{number}_{name}(.param .b64 from, .param .b64 to, .param .b32 w0, .param .b32 w1, .param .b32 w2, \
         .param .b64 l0, .param .b64 l1, .param .b64 l2) .reqntid 64\n{{\n\
         .reg .b32 %i, %j; .reg .b64 %in, %out, %o; .reg .pred %g;\n\
         mov.u32 %i, %ctaid.x; mov.u32 %j, %tid.x; mad.lo.s32 %i, %i, 64, %j;\n\
         ld.param.b64 %in, [from]; mul.wide.u32 %o, %i, {input}; add.s64 %in, %in, %o;\n\
         ld.param.b64 %out, [to]; mul.wide.u32 %o, %i, {output}; add.s64 %out, %out, %o;\n"
    );
    let mut from = 0;
    let mut to = 0;
    // The second variant is repeated with equal sources of each class, and under a predicate. ptxas drops the predicate
    // of some instructions, or of a part of such an instruction, so separate rows test them under a predicate.
    let is_spoiled = mnemonic.starts_with("testp.") || mnemonic.starts_with("set.");
    let extra = [(1, true, false), (0, false, !is_spoiled)];
    let plain = (0..variants.len()).map(|variant| (variant, false, false));
    for (variant, is_same, is_guarded) in plain.chain(extra) {
        *text += "{\n";
        for register in &all {
            let class = register.as_bytes()[1] as char;
            _ = write!(text, ".reg .{} {register}; .reg .b32 %x{}, %y{1}; ", type_of(class), &register[1..]);
        }
        *text += "\n";
        let mut first: Vec<&String> = Vec::new();
        for (place, (&register, &way)) in sources.iter().zip(&variants[variant]).enumerate() {
            let class = register.as_bytes()[1];
            if is_same && let Some(other) = first.iter().find(|other| other.as_bytes()[1] == class) {
                _ = writeln!(text, "mov.{} {register}, {other};", type_of(class.into()));
            } else {
                let changes_sign = matches!(way, Way::Negated | Way::Absolute);
                let way = if changes_sign && char::from(class) != sign_class { Way::Loaded } else { way };
                source(text, register, way, from, &ty, place);
                from += 8;
            }
            first.push(register);
            for (_, limit) in limits.iter().filter(|(limited, _)| limited == register) {
                _ = writeln!(text, "{}.{} {register}, {register}, {};", limit.0, type_of(class.into()), limit.1);
            }
        }
        if is_guarded {
            for register in &written {
                source(text, register, Way::Loaded, from, &ty, 0);
                from += 8;
            }
            *text += "setp.gt.u32 %g, %j, 20;\n";
        }
        let guard = if is_guarded { "@%g " } else { "" };
        for instruction in instructions.split(';').map(str::trim) {
            _ = writeln!(text, "{guard}{instruction};");
        }
        for register in &written {
            let class = register.as_bytes()[1] as char;
            let name = &register[1..];
            _ = match class {
                'p' => writeln!(text, "selp.b32 %x{name}, 1, 0, {register}; st.global.b32 [%out+{to}], %x{name};"),
                _ => writeln!(text, "st.global.{} [%out+{to}], {register};", type_of(class)),
            };
            to += 8;
        }
        *text += "}\n";
    }
    *text += "ret;\n}\n\n";
}
