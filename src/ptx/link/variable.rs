//! The memory of a variable or parameter: space, bytes, alignment, initial bytes.

use crate::ptx::parts::Declaration;
use crate::ptx::text::Text;
use crate::ptx::token::{Token, TokenKind};

/// The longest initialiser that is read, in bytes.
const MOST_BYTES: u64 = 1 << 28;

/// The linkage of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linkage {
    /// Visible to code of its own file, and to the host by name.
    Internal,
    /// Visible to code of all files, and defined here.
    Visible,
    /// Visible to code of all files. Another file may define it.
    Weak,
    /// Visible to code of all files, and defined in another file.
    Extern,
    /// Visible to code of all files. Several files may define it.
    Common,
}

impl Linkage {
    pub(super) fn of(text: &Text<'_>, words: &[Token]) -> Self {
        let has = |word: &str| words.iter().any(|&token| text.str(token) == word);
        match () {
            () if has(".extern") => Self::Extern,
            () if has(".weak") => Self::Weak,
            () if has(".common") => Self::Common,
            () if has(".visible") => Self::Visible,
            () => Self::Internal,
        }
    }

    /// Whether the file itself has the only definition.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Self::Internal | Self::Visible)
    }
}

/// The memory layout of a variable or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The size. `None` if another file or the launch defines it.
    pub(super) bytes: Option<u64>,
    pub(super) alignment: u64,
    /// The size of an element in bytes.
    width: u64,
}

impl Shape {
    /// Returns the shape of a declarator, by its position in the declaration.
    ///
    /// # Errors
    /// The reason why it has none.
    pub(super) fn new(text: &Text<'_>, declaration: &Declaration, place: usize) -> Result<Self, String> {
        let is_reference = |word: &str| [".texref", ".samplerref", ".surfref"].contains(&word);
        let space = text.str(declaration.space);
        if declaration.words(text).any(is_reference) || [".tex", ".sampler", ".surf"].contains(&space) {
            return Err("is a texture, a sampler or a surface".into());
        }
        let bits = declaration.type_name(text).get(2..).and_then(|bits| bits.parse::<u64>().ok());
        let width = bits.filter(|bits| [8, 16, 32, 64, 128].contains(bits)).ok_or("has no type of known size")? / 8;
        let vector = declaration.words(text).find_map(|word| word.strip_prefix(".v")?.parse::<u64>().ok());
        let element = width * vector.filter(|lanes| [2, 4].contains(lanes)).unwrap_or(1);
        // The alignment of a pointer is the alignment of the memory that it points to.
        let is_pointer = declaration.words(text).any(|word| word == ".ptr");
        let said = declaration.alignment(text).filter(|_| !is_pointer);
        let alignment = said.map_or(Ok(element), str::parse).map_err(|_| "has an alignment that is no number")?;
        if !alignment.is_power_of_two() {
            return Err("has an alignment that is no power of two".into());
        }
        let mut bytes = Some(element);
        for &(first, end) in declaration.declarators.get(place).map_or(&[][..], |one| &one.dimensions) {
            bytes = match (end.0 - first.0, text.str(first).parse::<u64>()) {
                (0, _) => None,
                (1, Ok(elements)) => bytes.and_then(|bytes| bytes.checked_mul(elements)),
                _ => return Err("has a dimension that is no number".into()),
            };
        }
        Ok(Self { bytes, alignment: alignment.max(1), width })
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Variable<'a> {
    pub(super) space: &'a str,
    pub(super) linkage: Linkage,
    pub(super) shape: Shape,
    /// Whether the declaration has an initial value.
    pub(super) is_initialised: bool,
    /// The initial bytes. Empty for shared memory, which has no initial value.
    pub(super) initial: Vec<u8>,
}

impl<'a> Variable<'a> {
    /// Returns the variable of a declarator, by its position in the declaration.
    ///
    /// # Errors
    /// The part that is not understood.
    pub(super) fn new(text: &Text<'a>, declaration: &Declaration, place: usize) -> Result<Self, String> {
        let shape = Shape::new(text, declaration, place)?;
        let has_attribute =
            declaration.specifiers.iter().any(|one| matches!(one, crate::ptx::Specifier::Attribute { .. }));
        if has_attribute {
            return Err("has an attribute".into());
        }
        let space = text.str(declaration.space);
        let is_data = [".global", ".const"].contains(&space);
        if !is_data && space != ".shared" {
            return Err(format!("is in {space}"));
        }
        let given = declaration.declarators.get(place).and_then(|one| one.initial);
        let mut initial = match given {
            None => Vec::new(),
            Some(range) => {
                bytes(text, range, shape.width).ok_or("has an initialiser that is not a plain list of numbers")?
            }
        };
        if let Some(size) = shape.bytes.filter(|_| is_data) {
            if size > MOST_BYTES || initial.len() as u64 > size {
                return Err("has an initialiser of another size".into());
            }
            initial.resize(size as usize, 0);
        }
        let linkage = Linkage::of(text, &declaration.linkage);
        Ok(Self { space, linkage, shape, is_initialised: given.is_some(), initial })
    }

    /// Whether the variable is shared memory whose size the launch defines.
    pub(super) fn is_sized_at_launch(&self) -> bool {
        self.space == ".shared" && self.linkage == Linkage::Extern && self.shape.bytes.is_none()
    }

    /// Whether both variables hold the same constant data: a `const` device variable, which clang puts in constant
    /// memory and nvcc in global memory. The compilers agree on the memory of other variables.
    pub(super) fn is_constant_like(&self, other: &Self) -> bool {
        let is_internal = |one: &Self| one.linkage == Linkage::Internal && one.is_initialised;
        let spaces = [self.space, other.space];
        is_internal(self)
            && is_internal(other)
            && [[".global", ".const"], [".const", ".global"]].contains(&spaces)
            && self.shape.bytes == other.shape.bytes
            && self.initial == other.initial
    }

    /// Checks that this object can replace another one: it has the same bytes and at least the same alignment.
    pub(super) fn serves_as(&self, other: &Self) -> Result<(), &'static str> {
        let linkages = [self.linkage, other.linkage];
        match () {
            () if self.space != other.space => Err("is in another memory"),
            () if self.shape.bytes != other.shape.bytes => Err("has another size"),
            () if self.shape.alignment < other.shape.alignment => Err("is less aligned"),
            () if linkages[0] != linkages[1] && !linkages.iter().all(|linkage| linkage.is_own()) => {
                Err("has another linkage")
            }
            () if self.initial != other.initial => Err("has another initial value"),
            () => Ok(()),
        }
    }
}

/// Returns the bytes of an initialiser that is a number or a flat list of numbers.
fn bytes(text: &Text<'_>, (first, end): (Token, Token), width: u64) -> Option<Vec<u8>> {
    let tokens = (first.0..end.0).map(Token).filter(|&token| text.kind(token) != TokenKind::Trivia);
    let mut tokens: Vec<Token> = tokens.collect();
    if text.is(*tokens.first()?, b'{') {
        if !text.is(*tokens.last()?, b'}') {
            return None;
        }
        tokens.pop();
        tokens.remove(0);
    }
    let mut bytes = Vec::with_capacity(tokens.len() / 2 * width as usize);
    for element in tokens.split(|&token| text.is(token, b',')) {
        let (is_negative, digits) = match *element {
            [digits] => (false, digits),
            [sign, digits] if text.is(sign, b'-') => (true, digits),
            _ => return None,
        };
        let value = number(text.str(digits), width)?;
        let value = if is_negative { value.wrapping_neg() } else { value };
        bytes.extend_from_slice(value.to_le_bytes().get(..width as usize)?);
    }
    Some(bytes)
}

/// Returns the bits of a number: an integer, or a floating-point number by its bits.
fn number(digits: &str, width: u64) -> Option<u64> {
    let digits = digits.trim_end_matches(['u', 'U']);
    let radix = |prefix: [&str; 2]| prefix.iter().find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, base) = match () {
        () if radix(["0x", "0X"]).is_some() => (radix(["0x", "0X"])?, 16),
        () if radix(["0f", "0F"]).is_some() && width == 4 => (radix(["0f", "0F"])?, 16),
        () if radix(["0d", "0D"]).is_some() && width == 8 => (radix(["0d", "0D"])?, 16),
        () if radix(["0b", "0B"]).is_some() => (radix(["0b", "0B"])?, 2),
        // A leading zero means octal.
        () if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        () => (digits, 10),
    };
    u64::from_str_radix(digits, base).ok()
}
