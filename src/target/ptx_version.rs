//! Versions of PTX, and what they brought.

/// A version of PTX, ten times over: 8.7 is 87, as LLVM names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion(pub u32);

impl PtxVersion {
    /// The first in which a kernel may ask for spills to shared memory: ptxas 13.0.88 says "requires PTX ISA .version
    /// 8.7 or later".
    pub const SMEM_SPILLING: Self = Self(87);

    /// The version that LLVM's features of a target ask for, as `-mattr=+ptx87` does; of several the latest. `None`
    /// where they ask for none: LLVM then takes the oldest that knows the processor.
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

    /// The latest version that is asked for counts, unless it is taken back; other features say nothing.
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
