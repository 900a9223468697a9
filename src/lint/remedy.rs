//! Remedies: the change, in the terms of the user's language.

use super::Place;
use super::input::Callee;
use crate::forecast::{Index, PromotionObstacle, UnpromotedVariable};

/// The language of a source line, by the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C++, including CUDA C++.
    Cpp,
    /// Python: Triton, or Numba.
    Python,
    /// Another language, or an unknown one: without debug information, the file is the compiler's output.
    Unknown,
}

/// Endings of the names of C++ files.
const CPP: [&str; 13] = ["c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp"];

impl Language {
    /// Returns the language of a source line.
    pub fn of(place: &Place) -> Self {
        match place.file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()) {
            Some(ending) if CPP.contains(&&*ending) => Self::Cpp,
            Some(ending) if ending == "py" => Self::Python,
            _ => Self::Unknown,
        }
    }

    /// Returns the text for this language; for an unknown language, all texts, each with its language.
    fn say(self, cpp: &str, python: &str, ptx: &str) -> String {
        match self {
            Self::Cpp => cpp.to_owned(),
            Self::Python => python.to_owned(),
            Self::Unknown => format!("{cpp} in CUDA C++, {python}, {ptx} in PTX"),
        }
    }
}

/// Returns the remedy that sets a register limit.
pub fn limit(language: Language, registers: &str) -> String {
    let [cpp, python, ptx] = [
        format!("__maxnreg__({registers})"),
        format!("maxnreg={registers} at the launch in Triton"),
        format!(".maxnreg {registers}"),
    ];
    language.say(&cpp, &python, &ptx)
}

/// Returns the remedy that gives a kernel launch bounds.
pub(super) fn bounds(language: Language) -> String {
    let python = "num_warps in Triton, launch_bounds of cuda.jit in Numba";
    format!("declare the size of its blocks: {}", language.say("__launch_bounds__(THREADS)", python, ".maxntid"))
}

/// Returns the remedy that gives a kernel more registers.
pub(super) fn more_registers(language: Language, registers: u32) -> String {
    let fewer = match language {
        Language::Cpp => "fewer blocks in __launch_bounds__",
        Language::Python => "fewer threads (num_warps)",
        Language::Unknown => "require fewer resident blocks",
    };
    format!("allow it {registers} registers: {}, or {fewer}", limit(language, &registers.to_string()))
}

/// Returns the remedy that determines the number of registers at a kernel's entry.
pub fn known_at_entry(language: Language) -> String {
    let blocks = match language {
        Language::Cpp => ", or blocks per multiprocessor in __launch_bounds__(THREADS, BLOCKS)",
        Language::Python => "",
        Language::Unknown => {
            ", or blocks per multiprocessor, as __launch_bounds__(THREADS, BLOCKS) and .minnctapersm do"
        }
    };
    format!("declare the number: {}{blocks}", limit(language, "N"))
}

/// Returns why a line occurs many times in a block, and how to reduce that.
pub(super) fn unrolled(language: Language) -> (&'static str, &'static str) {
    match language {
        Language::Cpp => (
            "its loop is unrolled, or its function inlined, that often",
            "unroll the loop less: #pragma unroll N with a smaller N, or #pragma unroll 1",
        ),
        Language::Python => (
            "a thread has that many elements of its block of values, or its loop is unrolled that often",
            "give a thread fewer elements: smaller blocks of values, or more num_warps; use tl.range, which is \
             not unrolled, instead of tl.static_range",
        ),
        Language::Unknown => (
            "its loop is unrolled, or its function inlined, that often",
            "unroll the loop less, or give a thread less work",
        ),
    }
}

/// Returns the remedy for a loop with a wrong trip count; `is_float` if a float counts its iterations.
pub(super) fn wrong_loop(language: Language, is_float: bool) -> String {
    let count = if is_float {
        "count in integers, and compute the float from them"
    } else {
        "count up by 1 in unsigned integers"
    };
    match language {
        Language::Cpp => format!("{count}; or keep ptxas from unrolling it: #pragma unroll 1"),
        Language::Python => count.to_owned(),
        Language::Unknown => format!(
            "{count}; or keep ptxas from unrolling it: #pragma unroll 1 in CUDA C++, .pragma \"nounroll\" after the \
             label in PTX"
        ),
    }
}

/// Variables that Python's compilers place in local memory.
const OF_PYTHON: &str = "in Triton, library functions such as libdevice's sin and cos keep it there: call libdevice's \
                         fast_sinf and fast_cosf; in Numba, index it by constants, or use cuda.shared.array";

/// Unrolling and inlining that the source does not request.
const TUNED: &str = "or let nvptx-ra tune choose unrolling and inlining: give it the output of clang -Xclang \
                     -disable-llvm-passes -emit-llvm";

/// Returns how to move a variable out of local memory.
pub(super) fn local(language: Language, cause: &UnpromotedVariable) -> String {
    let has_array = matches!(
        cause.why,
        PromotionObstacle::Indexed(_)
            | PromotionObstacle::Costly(_)
            | PromotionObstacle::TooMany(_)
            | PromotionObstacle::PassedOn(_)
    );
    if language == Language::Python && has_array {
        return OF_PYTHON.to_owned();
    }
    let is_cpp = language == Language::Cpp;
    match (&cause.why, cause.index) {
        (PromotionObstacle::Indexed(_) | PromotionObstacle::Costly(_), Some(Index::Chosen)) => {
            let keeps = if is_cpp { "clang" } else { "LLVM, and so clang," };
            format!(
                "{keeps} keeps the branches apart with -mllvm -sink-common-insts=false; or keep it in shared memory"
            )
        }
        (PromotionObstacle::Indexed(_) | PromotionObstacle::Costly(_), Some(Index::Unknown)) => {
            "keep it in shared memory, or select its values by comparisons: no unrolling makes this index a constant"
                .to_owned()
        }
        (PromotionObstacle::Indexed(_) | PromotionObstacle::Costly(_), _) => {
            let tuned = if is_cpp { TUNED } else { "or keep it in shared memory" };
            format!("index it by constants, by fully unrolling its loops, {tuned}")
        }
        (PromotionObstacle::PassedOn(_), _) if is_cpp => format!(
            "inline it: __forceinline__ for a function, __attribute__((always_inline)) for a closure; pass values \
             instead of the address; {TUNED}"
        ),
        (PromotionObstacle::PassedOn(_), _) => "inline that function, or pass values instead of the address".to_owned(),
        (PromotionObstacle::Volatile, _) => "remove volatile, or keep it in shared memory".to_owned(),
        (PromotionObstacle::Width(_) | PromotionObstacle::Widths(..) | PromotionObstacle::Misaligned, _) => {
            "access it only as whole values of one type".to_owned()
        }
        (PromotionObstacle::TooMany(_), _) => "make it smaller, or keep it in shared memory".to_owned(),
        _ => "keep values instead of their address".to_owned(),
    }
}

/// Returns how to move arrays out of local memory if only machine code is known.
pub(super) fn computed(language: Language) -> &'static str {
    match language {
        Language::Python => OF_PYTHON,
        _ => "index arrays by constants, by fully unrolling their loops, or keep them in shared memory",
    }
}

/// Returns how to avoid a call.
pub(super) fn call(language: Language, callee: &Callee) -> &'static str {
    match (callee, language) {
        (Callee::Pointer, _) => "call the function by its name, or switch over the possible functions",
        (Callee::Recursive(_), _) => "write a loop instead of the recursion",
        (Callee::Function(_), Language::Cpp) => "inline it: __forceinline__ instead of __noinline__",
        (Callee::Function(_), Language::Python) => "inline it: @triton.jit without noinline=True",
        (Callee::Function(_), Language::Unknown) => "inline it",
        (Callee::Elsewhere(_), Language::Cpp) => "define it in this file, or optimise at link time: nvcc -dlto",
        (Callee::Elsewhere(_), Language::Python) => {
            "give the compiler its bitcode (extern_libs in Triton, link in Numba)"
        }
        (Callee::Elsewhere(_), Language::Unknown) => "define it in this file, or optimise at link time",
        (Callee::System(_), Language::Python) => {
            "remove it from kernels that must be fast: it prints, asserts or allocates on the device"
        }
        (Callee::System(name), _) if name == "__assertfail" => {
            "remove it from kernels that must be fast: define NDEBUG to remove assert"
        }
        (Callee::System(_), _) => "remove it from kernels that must be fast",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str) -> Place {
        Place { file: file.into(), line: 1 }
    }

    /// The name of a source file determines its language. A compiler's output has no language.
    #[test]
    fn languages() {
        let of = |file: &str| Language::of(&place(file));
        assert_eq!(["a/k.cu", "k.CUH", "x.hpp"].map(of), [Language::Cpp; 3]);
        assert_eq!(of("/tmp/k.py"), Language::Python);
        assert_eq!(["k.ptx", "k.ll", "k", "py", "k.rs"].map(of), [Language::Unknown; 5]);
    }

    /// A remedy for Python contains no terms of C++, and a remedy for C++ contains no terms of Python. For an unknown
    /// language, each term comes with the name of its language.
    #[test]
    fn words_of_a_language() {
        let callees = [
            Callee::Pointer,
            Callee::named("f"),
            Callee::named("vprintf"),
            Callee::named("__assertfail"),
            Callee::Elsewhere("f".into()),
            Callee::Recursive("f".into()),
        ];
        let causes = [
            (PromotionObstacle::Indexed(4), Some(Index::Chosen)),
            (PromotionObstacle::Costly(4), Some(Index::Counted)),
            (PromotionObstacle::Costly(4), Some(Index::Unknown)),
            (PromotionObstacle::PassedOn(None), None),
            (PromotionObstacle::TooMany(999), None),
            (PromotionObstacle::Volatile, None),
            (PromotionObstacle::Width(64), None),
            (PromotionObstacle::Stored, None),
        ];
        let remedies = |language| {
            let local = causes.clone().map(|(why, index)| {
                local(language, &UnpromotedVariable { variables: 1, variable: None, declared: 0, line: 0, why, index })
            });
            let (why, unrolled) = unrolled(language);
            let others = [
                limit(language, "40"),
                bounds(language),
                more_registers(language, 40),
                known_at_entry(language),
                format!("{why} {unrolled} {}", computed(language)),
            ];
            let calls = callees.iter().map(|callee| call(language, callee).to_owned());
            local.into_iter().chain(others).chain(calls).collect::<Vec<String>>()
        };
        let has = |words: &[&str], text: &String| words.iter().any(|word| text.contains(word));
        let cpp = ["__", "#pragma", "clang", "nvcc", "assert "];
        let python = ["Triton", "Numba", "num_warps", "tl.", "cuda.jit", "triton"];
        assert!(remedies(Language::Python).iter().all(|text| !has(&cpp, text)));
        assert!(remedies(Language::Cpp).iter().all(|text| !has(&python, text)));
        let is_told = |text: &String| {
            (!text.contains("__launch_bounds__(THREADS) in") || text.contains("CUDA C++"))
                && (!has(&python, text) || text.contains("Triton"))
        };
        assert!(remedies(Language::Unknown).iter().all(|text| is_told(text) && !has(&["#pragma"], text)));
    }

    /// The origin of an index decides the remedy.
    #[test]
    fn arrays() {
        let of = |index| {
            let why = PromotionObstacle::Costly(32);
            local(
                Language::Cpp,
                &UnpromotedVariable { variables: 1, variable: None, declared: 0, line: 0, why, index: Some(index) },
            )
        };
        assert!(of(Index::Chosen).contains("-sink-common-insts=false"));
        assert!(of(Index::Counted).contains("unrolling") && of(Index::Counted).contains("-disable-llvm-passes"));
        assert!(of(Index::Unknown).contains("no unrolling"));
    }
}
