//! Options whose value is a word or a number: numbers of registers, and bytes that may be unknown.

use std::borrow::Cow;

use super::value::{Choice, Shape, Value};

/// Defines an option whose value is one of some words, or a number in a range.
macro_rules! word_or_number {
    (
        $(#[$doc:meta])* $name:ident {
            words { $($(#[$word_doc:meta])* $word:ident = $text:literal: $help:literal,)+ }
            number { $(#[$number_doc:meta])* $number:ident = $min:literal..=$max:expr }
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$word_doc])* $word,)+
            $(#[$number_doc])*
            $number(u32),
        }

        impl Value for $name {
            const SHAPE: Shape = Shape::ChoiceOrInteger {
                choices: &[$(Choice { name: $text, help: $help }),+],
                min: $min,
                max: $max,
            };

            fn parse(text: &str, _: &Shape) -> Option<Self> {
                match text {
                    $($text => Some(Self::$word),)+
                    _ => u32::parse(text, &Shape::Integer { min: $min, max: $max }).map(Self::$number),
                }
            }

            fn print(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$word => $text.into(),)+
                    Self::$number(number) => number.to_string().into(),
                }
            }
        }
    };
}

// ptxas cannot compile anything with fewer than 16 registers.
word_or_number! {
    /// Register limit for kernels without a limit of their own.
    KernelRegisterLimit {
        words {
            /// No limit.
            Off = "off": "No limit.",
        }
        number {
            /// This limit.
            Most = 16..=255
        }
    }
}

word_or_number! {
    /// Number of registers. Values are spilled where more words are live.
    RegisterTarget {
        words {
            /// No value is spilled.
            Off = "off": "No value is spilled.",
            /// As many registers as ptxas may give the kernel. The kernel changes only if spills are expected and
            /// shared memory has room for many of the spilled values.
            Auto = "auto": "As many as ptxas may give the kernel by its launch bounds. A kernel stays unchanged if it \
                is not expected to spill, or if a spill plan would leave about as much traffic. If ptxas is expected \
                to trade most registers for warps that no bound requests, and to spill much, the kernel gets the \
                hardware's register limit as `.maxnreg`.",
        }
        number {
            /// This number.
            Most = 16..=255
        }
    }
}

word_or_number! {
    /// Bytes of dynamic shared memory that the launch adds.
    DynamicShared {
        words {
            /// Unknown.
            Unknown = "unknown": "A kernel that has dynamic shared memory stays unchanged.",
        }
        number {
            /// This number.
            Bytes = 0..=DynamicShared::MOST
        }
    }
}

word_or_number! {
    /// Registers that are left to ptxas.
    Slack {
        words {
            /// As many registers as ptxas takes beyond the live words, by the forecast.
            Auto = "auto": "The registers that ptxas takes beyond the live words, by the forecast: 2 to 24. It is 24 \
                in three cases: the forecast gives the kernel all registers, so that the slack is unknown; the live \
                words exceed the registers by half; or regalloc=auto is set.",
        }
        number {
            /// This number.
            Number = 0..=128
        }
    }
}

word_or_number! {
    /// Threads of a block.
    Threads {
        words {
            /// Unknown.
            Unknown = "unknown": "A kernel that does not declare its block size stays unchanged.",
        }
        number {
            /// This number.
            Number = 1..=1024
        }
    }
}

impl Threads {
    /// Returns the number of threads, if it is known.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Unknown => None,
            Self::Number(number) => Some(number),
        }
    }
}

impl DynamicShared {
    /// No processor gives a block more bytes.
    pub const MOST: u32 = 256 * 1024;

    /// Returns the number of bytes, if it is known.
    pub fn bytes(self) -> Option<u32> {
        match self {
            Self::Unknown => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }
}
