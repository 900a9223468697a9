//! Special registers, as S2R and S2UR name them.

/// The names, without `SR_`, by the number that stands in an instruction (bits 72 to 79). Empty where none is known.
pub fn name(number: u8) -> &'static str {
    NAMES.iter().find(|known| known.0 == number).map_or("", |known| known.1)
}

/// The number of a name with or without `SR_`.
pub fn number(name: &str) -> Option<u8> {
    let name = name.strip_prefix("SR_").unwrap_or(name);
    NAMES.iter().find(|known| known.1 == name).map(|known| known.0)
}

/// Numbers and names.
pub const NAMES: &[(u8, &str)] = &[
    (0x00, "LANEID"),
    (0x02, "VIRTCFG"),
    (0x03, "VIRTID"),
    (0x21, "TID.X"),
    (0x22, "TID.Y"),
    (0x23, "TID.Z"),
    (0x25, "CTAID.X"),
    (0x26, "CTAID.Y"),
    (0x27, "CTAID.Z"),
    (0x28, "NTID"),
    (0x38, "EQMASK"),
    (0x39, "LTMASK"),
    (0x3a, "LEMASK"),
    (0x3b, "GTMASK"),
    (0x3c, "GEMASK"),
    (0x50, "CLOCKLO"),
    (0x51, "CLOCKHI"),
    (0x88, "CgaCtaId"),
    (0xff, "SRZ"),
];
