//! The format of an entry's file: a first line, the key, a checksum, and the content. A wrong byte is detected, and so
//! is a file under another entry's name.

use super::key::Key;

/// The first line. It changes with the format.
const FIRST_LINE: &[u8] = b"nvptx-ra cache 1\n";

/// Returns the bytes before the content.
fn header(key: &Key, content: &[u8]) -> Vec<u8> {
    let checksum = blake3::Hasher::new().update(key.as_bytes()).update(content).finalize();
    [FIRST_LINE, format!("{key}\n{checksum}\n").as_bytes()].concat()
}

/// Returns the file of an entry.
pub(crate) fn seal(key: &Key, content: &[u8]) -> Vec<u8> {
    let mut sealed = header(key, content);
    sealed.extend_from_slice(content);
    sealed
}

/// Returns the content of an entry's file; `None` if the file is not exactly what [`seal`] made for this key.
pub(crate) fn unseal<'a>(key: &Key, sealed: &'a [u8]) -> Option<&'a [u8]> {
    let (_, content) = sealed.split_at_checked(header(key, b"").len())?;
    sealed.starts_with(&header(key, content)).then_some(content)
}

#[cfg(test)]
mod tests {
    use arbitrary::Arbitrary as _;
    use arbtest::arbtest;

    use super::super::key::KeyBuilder;
    use super::*;

    /// A sealed entry is readable with its key and with no other.
    #[test]
    fn sealed_and_unsealed() {
        arbtest(|u| {
            let (one, content) = (<[u8; 4]>::arbitrary(u)?, Vec::<u8>::arbitrary(u)?);
            let key = |bytes: &[u8]| KeyBuilder::new("test").field("one", bytes).key();
            let sealed = seal(&key(&one), &content);
            assert_eq!(unseal(&key(&one), &sealed), Some(&content[..]));
            assert_eq!(unseal(&key(b"another"), &sealed), None);
            Ok(())
        });
    }

    /// Each wrong bit and each wrong length is detected.
    #[test]
    fn every_wrong_bit_is_noticed() {
        let key = KeyBuilder::new("test").key();
        let sealed = seal(&key, b"{\"choice\": \"order=eager\"}");
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut wrong = sealed.clone();
                wrong[at] ^= 1 << bit;
                assert_eq!(unseal(&key, &wrong), None, "byte {at}, bit {bit}");
            }
            assert_eq!(unseal(&key, &sealed[..at]), None, "{at} bytes");
        }
        assert_eq!(unseal(&key, &[&sealed[..], b" "].concat()), None);
    }
}
