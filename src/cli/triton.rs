//! Triton's metadata files: `NAME.json` and `NAME.ptx` beside a kernel's LLVM IR, `NAME.llir`. The LLVM IR itself does
//! not contain the processor, the permission to fuse products and sums, the shared memory that launches add, or ptxas's
//! options.

use std::ffi::OsString;
use std::path::Path;
#[cfg(feature = "llvm")]
use std::path::PathBuf;

#[cfg(feature = "llvm")]
use nvptx_ra::ptx::Module;
#[cfg(feature = "llvm")]
use nvptx_ra::target::PtxVersion;
use serde::Deserialize as _;

/// The needed metadata of a kernel.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Kernel {
    /// Its name.
    pub(crate) name: String,
    /// Bytes of shared memory that launches add.
    pub(crate) shared: u32,
    /// Whether products and sums may be fused.
    #[serde(default, rename = "enable_fp_fusion", deserialize_with = "if_it_is_one")]
    pub(crate) fuses: Option<bool>,
    /// The user's options of ptxas, separated by spaces.
    #[serde(default, deserialize_with = "text_if_it_is_one")]
    ptx_options: Option<String>,
    #[serde(default, deserialize_with = "text_if_it_is_one")]
    triton_version: Option<String>,
    /// Older versions of Triton write a list.
    #[cfg(feature = "llvm")]
    #[serde(default)]
    target: serde_json::Value,
    /// The path of Triton's own PTX, if it exists.
    #[cfg(feature = "llvm")]
    #[serde(skip)]
    ptx: PathBuf,
}

/// Reads a boolean; `None` for any other type, which no version of Triton writes.
fn if_it_is_one<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<bool>, D::Error> {
    serde_json::Value::deserialize(field).map(|value| value.as_bool())
}

/// Reads a string; `None` for any other type.
fn text_if_it_is_one<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    serde_json::Value::deserialize(field).map(|value| value.as_str().map(str::to_owned))
}

/// Reads the metadata of an input; `None` if Triton has written no metadata for the input.
pub(crate) fn beside(input: &Path) -> Option<Kernel> {
    let path = input.with_extension("json");
    let kernel: Kernel = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    #[cfg(feature = "llvm")]
    let kernel = Kernel { ptx: input.with_extension("ptx"), ..kernel };
    log::info!("{}: how Triton compiles and launches {}", path.display(), kernel.name);
    Some(kernel)
}

/// The first version of Triton that passes [`ALLOCATION`] to ptxas.
const SINCE: (u32, u32) = (3, 7);

/// A hidden option for ptxas's register allocation, which Triton passes because of a bug in ptxas 13.
const ALLOCATION: &str = "--regAllocOptLevel=2";

impl Kernel {
    /// Returns the options that affect machine code and that Triton passes to ptxas, in Triton's order.
    pub(crate) fn ptxas_options(&self) -> Vec<OsString> {
        let number = |part: Option<&str>| part.and_then(|part| part.parse().ok()).unwrap_or(0);
        let of_version = |version: &String| {
            let mut parts = version.split(|c: char| !c.is_ascii_digit());
            (number(parts.next()), number(parts.next())) >= SINCE
        };
        let fmad = (self.fuses == Some(false)).then_some("--fmad=false");
        let allocation = self.triton_version.as_ref().is_some_and(of_version).then_some(ALLOCATION);
        let given = self.ptx_options.iter().flat_map(|options| options.split_whitespace());
        fmad.into_iter().chain(allocation).chain(given).map(OsString::from).collect()
    }
}

#[cfg(feature = "llvm")]
impl Kernel {
    /// The newest PTX version that LLVM 22 writes.
    const NEWEST: PtxVersion = PtxVersion(90);

    /// Returns LLVM's name of the processor. From sm_90 on, the name includes architecture-specific instructions, as in
    /// Triton.
    pub(crate) fn cpu(&self) -> Option<String> {
        let architecture = self.target.get("arch").filter(|_| self.target["backend"] == "cuda")?.as_u64()?;
        let own = if architecture >= 90 { "a" } else { "" };
        Some(format!("sm_{architecture}{own}"))
    }

    /// Returns the target features that request the PTX version of Triton's own PTX. The version is read from that
    /// file.
    pub(crate) fn features(&self) -> Option<String> {
        let content = std::fs::read(&self.ptx).ok()?;
        let version = Module::read(&self.ptx.to_string_lossy(), &content).ok()?.version()?;
        Some(format!("+ptx{}", version.min(Self::NEWEST).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(json: &str, ptx: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("there is space");
        std::fs::write(folder.path().join("dot.json"), json).expect("is writable");
        if let Some(ptx) = ptx {
            std::fs::write(folder.path().join("dot.ptx"), ptx).expect("is writable");
        }
        folder
    }

    fn of(json: &str) -> Option<Kernel> {
        beside(&folder_with(json, None).path().join("dot.llir"))
    }

    /// A file without a name and shared memory is not from Triton, and a file that is not JSON is not either.
    #[test]
    fn what_is_tritons() {
        let kernel = of(r#"{"hash": "0", "num_warps": 4, "shared": 4096, "name": "dot"}"#).expect("is Triton's");
        assert_eq!((kernel.name.as_str(), kernel.shared), ("dot", 4096));
        assert!(of(r#"{"kernels": []}"#).is_none() && of("").is_none());
        assert!(beside("dot.llir".as_ref()).is_none());
    }

    /// ptxas gets the options that this version of Triton passes, and the user's options.
    #[test]
    fn options_of_ptxas() {
        let options = |fields: &str| {
            let kernel = of(&format!(r#"{{"shared": 0, "name": "dot"{fields}}}"#)).expect("is Triton's");
            let words = kernel.ptxas_options().into_iter().map(|option| option.into_string().expect("text"));
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(options(""), "");
        assert_eq!(options(r#", "triton_version": "3.6.0", "enable_fp_fusion": true, "ptx_options": null"#), "");
        assert_eq!(options(r#", "triton_version": "3.10.0+git1", "ptx_options": 1"#), "--regAllocOptLevel=2");
        let all = r#", "triton_version": "3.7.1", "enable_fp_fusion": false, "ptx_options": "-O2  --x=1""#;
        assert_eq!(options(all), "--fmad=false --regAllocOptLevel=2 -O2 --x=1");
    }

    /// The processor, fusing and the PTX version are Triton's, as far as the metadata contain them and LLVM supports
    /// them.
    #[cfg(feature = "llvm")]
    #[test]
    fn how_it_is_compiled() {
        let told = |target: &str, ptx: Option<&str>| {
            let json = format!(r#"{{"shared": 0, "name": "dot", "enable_fp_fusion": true, "target": {target}}}"#);
            let folder = folder_with(&json, ptx);
            let kernel = beside(&folder.path().join("dot.llir")).expect("is Triton's");
            (kernel.cpu(), kernel.features(), kernel.fuses)
        };
        let ptx = |version: &str| format!(".version {version}\n.target sm_90a\n.address_size 64\n");
        let named = |name: &str| Some(name.to_owned());
        let hopper = r#"{"backend": "cuda", "arch": 90, "warp_size": 32}"#;
        assert_eq!(told(hopper, Some(&ptx("8.7"))), (named("sm_90a"), named("+ptx87"), Some(true)));
        assert_eq!(told(hopper, Some(&ptx("9.3"))).1, named("+ptx90"));
        let other = r#"{"shared": 8, "name": "dot", "enable_fp_fusion": 1}"#;
        assert_eq!(of(other).map(|kernel| (kernel.shared, kernel.fuses)), Some((8, None)));
        let ampere = r#"{"backend": "cuda", "arch": 80, "warp_size": 32}"#;
        assert_eq!(told(ampere, Some("no PTX")), (named("sm_80"), None, Some(true)));
        for other in [r#"{"backend": "hip", "arch": "gfx942"}"#, r#"["cuda", 80]"#, "null"] {
            assert_eq!(told(other, None).0, None, "{other}");
        }
    }
}
