//! The key of a cache entry: a digest of everything that can change its content.

use std::fmt;

/// Version of the keys, increased if the meaning of their fields changes.
const FORM: &[u8] = b"1";

/// Identifies an entry: two keys are equal only if all their fields are equal, in number, names, order and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

impl Key {
    /// Parses the key in a file's name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        blake3::Hash::from_hex(name).ok().map(Self)
    }

    /// Returns the key as stored in an entry.
    pub(super) fn as_bytes(&self) -> &[u8; blake3::OUT_LEN] {
        self.0.as_bytes()
    }
}

/// Formats the key in hexadecimal, as in file names.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

/// Builds a key. The digest includes the length of each name and content, so that two different lists of fields never
/// give the same bytes.
#[derive(Clone)]
pub(crate) struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// Starts a key without fields. It includes this program's version. `of` separates kinds of keys, e.g. `choice`.
    pub(crate) fn new(of: &str) -> Self {
        let mut builder = Self(blake3::Hasher::new());
        builder.field("form", FORM).field("version", nvptx_ra::VERSION.as_bytes()).field("of", of.as_bytes());
        builder
    }

    /// Adds an input on which the entry depends.
    pub(crate) fn field(&mut self, name: &str, content: &[u8]) -> &mut Self {
        for bytes in [name.as_bytes(), content] {
            self.0.update(&(bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
        self
    }

    pub(crate) fn key(&self) -> Key {
        Key(self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::{Arbitrary as _, Unstructured};
    use arbtest::arbtest;

    use super::*;

    type Fields = Vec<(String, Vec<u8>)>;

    fn key(fields: &Fields) -> Key {
        let mut builder = KeyBuilder::new("test");
        for (name, content) in fields {
            builder.field(name, content);
        }
        builder.key()
    }

    /// Makes a list of fields with one small difference: in one byte, in the border between a name and its content, in
    /// the order, or by an additional or missing field.
    fn neighbour(u: &mut Unstructured<'_>, fields: &Fields) -> arbitrary::Result<Fields> {
        let mut other = fields.clone();
        if other.is_empty() {
            return Fields::arbitrary(u);
        }
        let at = u.choose_index(other.len())?;
        match u.int_in_range(0..=5)? {
            0 => other[at].1.push(u8::arbitrary(u)?),
            1 => other[at].0.push(char::arbitrary(u)?),
            2 => drop(other.remove(at)),
            3 => other.insert(at, (String::new(), Vec::new())),
            4 => other.swap(0, at),
            _ => {
                // The bytes stay the same, but all of the name moves to the content.
                let (name, content) = &mut other[at];
                let mut moved = std::mem::take(name).into_bytes();
                moved.append(content);
                *content = moved;
            }
        }
        Ok(other)
    }

    /// Equal fields give equal keys, and any difference in the fields gives another key.
    #[test]
    fn keys_tell_fields_apart() {
        arbtest(|u| {
            let fields = Fields::arbitrary(u)?;
            let other = neighbour(u, &fields)?;
            assert_eq!(key(&fields) == key(&other), fields == other, "{fields:?} and {other:?}");
            Ok(())
        });
    }

    /// Keys of different kinds differ, even without fields, and a key is a valid file name.
    #[test]
    fn keys_of_different_things() {
        let [one, other] = ["a", "b"].map(|of| KeyBuilder::new(of).key());
        assert_ne!(one, other);
        let name = one.to_string();
        assert!(name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
}
