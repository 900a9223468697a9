//! Adapts PTX to a ptxas that does not support the PTX version.

/// Returns the newest PTX version that a ptxas supports, from its error message for a newer one.
pub(crate) fn known_version(refusal: &str) -> Option<PtxVersion> {
    let (_, rest) = refusal.split_once("Unsupported .version ")?;
    let (_, known) = rest.split_once("current version is '")?;
    let (major, minor) = known.split_once('\'')?.0.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The major and the minor number.
pub(crate) type PtxVersion = (u32, u32);

/// Returns the PTX with another version. ptxas refuses the PTX if it uses newer features.
pub(crate) fn of_version(ptx: &[u8], (major, minor): PtxVersion) -> Vec<u8> {
    const WORD: &[u8] = b".version ";
    let is_start = |at: &usize| *at == 0 || ptx[at - 1] == b'\n';
    let head = (0..ptx.len()).filter(is_start).find(|&at| ptx[at..].starts_with(WORD));
    let Some(head) = head else { return ptx.to_vec() };
    let rest = &ptx[head..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    [&ptx[..head], format!(".version {major}.{minor}").as_bytes(), &rest[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX with an unsupported version gets a supported version. Otherwise, the PTX does not change.
    #[test]
    fn versions() {
        let refusal =
            "ptxas refuses it: ptxas k.ptx, line 9; fatal   : Unsupported .version 9.0; current version is '8.7'";
        assert_eq!((known_version(refusal), known_version("ptxas fatal   : no")), (Some((8, 7)), None));
        let text = b"// .version 1.0\n.version 9.0\n.target sm_90\n";
        assert_eq!(of_version(text, (8, 7)), b"// .version 1.0\n.version 8.7\n.target sm_90\n");
        assert_eq!(of_version(b"none", (8, 7)), b"none");
    }
}
