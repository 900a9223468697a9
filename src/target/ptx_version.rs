//! Versions of PTX and their features.

/// A version of PTX, multiplied by 10: 8.7 is 87, as in LLVM's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion(pub u32);

impl PtxVersion {
    /// The first version in which a kernel may enable spills to shared memory: ptxas 13.0.88 reports "requires PTX ISA
    /// .version 8.7 or later".
    pub const SMEM_SPILLING: Self = Self(87);

    /// Returns the version that LLVM's target features select, as `-mattr=+ptx87` does; the latest, if there are
    /// several. `None` if they select none: LLVM then uses the oldest version that supports the processor.
    pub fn of_features(features: &str) -> Option<Self> {
        let mut wanted = Vec::new();
        for feature in features.split(',').map(str::trim) {
            let version = |sign| Some(Self(feature.strip_prefix(sign)?.strip_prefix("ptx")?.parse().ok()?));
            wanted.extend(version('+'));
            if let Some(unwanted) = version('-') {
                wanted.retain(|&version| version != unwanted);
            }
        }
        wanted.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::PtxVersion;

    /// The latest selected version counts, unless a later feature disables it. Other features have no influence.
    #[test]
    fn features() {
        let cases = [
            ("", None),
            ("+ptx78", Some(78)),
            ("+sm_90a,+ptx90,+ptx87", Some(90)),
            ("+ptx90,-ptx90, +ptx86", Some(86)),
            ("-ptx87,+ptx87", Some(87)),
            ("+ptx,+ptxas,-ptx", None),
        ];
        for (features, version) in cases {
            assert_eq!(PtxVersion::of_features(features), version.map(PtxVersion), "{features}");
        }
        assert!(PtxVersion(86) < PtxVersion::SMEM_SPILLING && PtxVersion(90) > PtxVersion::SMEM_SPILLING);
    }
}
