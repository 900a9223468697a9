//! Generates Rust code for the forecast's tables, compiles the shim against the LLVM of `llvm-config.toml`, and
//! generates the Rust side of its C ABI. Without the feature `llvm` there is no shim: the core is plain Rust.

#[path = "src/forecast/model/table.rs"]
#[allow(unreachable_pub, reason = "the crate has it for others")]
mod table;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Err(message) = models() {
        eprintln!("nvptx-ra: {message}");
        std::process::exit(1);
    }
    #[cfg(feature = "llvm")]
    if let Err(message) = shim::build() {
        eprintln!("nvptx-ra: {message}");
        std::process::exit(1);
    }
}

/// Writes the forecast's tables as statics.
fn models() -> Result<(), String> {
    println!("cargo:rerun-if-changed=src/forecast/model/table.rs");
    let mut statics = String::new();
    for (name, file) in [
        ("REGISTERS", "registers.model"),
        ("REGISTERS_WITH_BLOCKS", "registers-with-blocks.model"),
        ("SPILLS", "spills.model"),
        ("SPILL_SIZES", "spill-sizes.model"),
    ] {
        let path = format!("src/forecast/model/{file}");
        println!("cargo:rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let model = table::Model::parse(&text)
            .map_err(|problem| format!("{path}: {problem}; `make calibrate` makes it anew"))?;
        let table::Model { about, processor, ptxas, head, constant, features, base, likely, nodes, roots } = &model;
        let features: String = features.iter().map(|name| format!("Borrowed({name:?}), ")).collect();
        statics += &format!(
            "pub(super) static {name}: Model = Model {{ about: Borrowed({about:?}), processor: Borrowed({processor:?}), \
             ptxas: Borrowed({ptxas:?}), head: {head:?}, constant: {constant:?}, base: Borrowed(&{base:?}), \
             likely: Borrowed(&{likely:?}), \
             features: Borrowed(&[{features}]), \
             nodes: Borrowed(&{nodes:?}), roots: Borrowed(&{roots:?}) }};\n"
        );
    }
    let folder = std::env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    std::fs::write(format!("{folder}/models.rs"), statics).map_err(|error| format!("{folder}/models.rs: {error}"))
}

#[cfg(feature = "llvm")]
mod shim {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    const SHIM: &str = "cpp-shim";
    const WANTED: &str = "llvm-config.toml";
    const ARCHIVE: &str = "nvptx_ra_shim";
    /// The C ABI, in both directions.
    const HEADERS: [&str; 5] =
        ["nvptx_ra.h", "nvptx_ra_codegen.h", "nvptx_ra_host.h", "nvptx_ra_ir.h", "nvptx_ra_optimise.h"];

    /// The content of `llvm-config.toml`.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Wanted {
        major: u32,
        llvm_config: Vec<PathBuf>,
        components: Vec<String>,
        install: String,
    }

    /// An llvm-config of the right major version.
    struct Llvm {
        config: PathBuf,
        major: u32,
    }

    pub(super) fn build() -> Result<(), String> {
        println!("cargo:rerun-if-changed={WANTED}");
        let text = std::fs::read_to_string(WANTED).map_err(|error| format!("{WANTED}: {error}"))?;
        let wanted: Wanted = toml::from_str(&text).map_err(|error| format!("{WANTED}: {error}"))?;
        let llvm = Llvm::find(&wanted)?;
        bind(&llvm, &wanted)?;
        // Clippy has a separate build and links nothing.
        if is_linted() {
            return Ok(());
        }
        compile(&llvm, &wanted)?;
        link(&llvm)
    }

    fn is_linted() -> bool {
        println!("cargo:rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
        let wrapper = std::env::var_os("RUSTC_WORKSPACE_WRAPPER");
        wrapper.is_some_and(|path| Path::new(&path).file_stem().is_some_and(|stem| stem == "clippy-driver"))
    }

    impl Llvm {
        fn find(wanted: &Wanted) -> Result<Self, String> {
            println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
            println!("cargo:rerun-if-env-changed=PATH");
            let candidates = match std::env::var_os("LLVM_CONFIG") {
                Some(path) => vec![PathBuf::from(path)],
                None => wanted.llvm_config.clone(),
            };
            let mut tried = Vec::new();
            for config in candidates {
                let found = match query(&config, &["--version"]) {
                    Ok(version) if major_of(&version) == Some(wanted.major) => {
                        let llvm = Self { config, major: wanted.major };
                        llvm.check_components(wanted)?;
                        return Ok(llvm);
                    }
                    Ok(version) => format!("version {version}"),
                    Err(error) => error,
                };
                tried.push(format!("  {}: {found}", config.display()));
            }
            Err(format!(
                "LLVM {} is needed and was not found:\n{}\n{}",
                wanted.major,
                tried.join("\n"),
                wanted.remedy()
            ))
        }

        fn query(&self, flag: &str) -> Result<String, String> {
            query(&self.config, &[flag]).map_err(|error| format!("{} {flag}: {error}", self.config.display()))
        }

        fn check_components(&self, wanted: &Wanted) -> Result<(), String> {
            let built = self.query("--components")?;
            let built: Vec<&str> = built.split_whitespace().collect();
            let missing: Vec<&str> =
                wanted.components.iter().map(String::as_str).filter(|name| !built.contains(name)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            Err(format!(
                "the LLVM of {} was built without {}\n{}",
                self.config.display(),
                missing.join(", "),
                wanted.remedy()
            ))
        }
    }

    impl Wanted {
        fn remedy(&self) -> String {
            format!(
                "`{}` brings it; elsewhere, set LLVM_CONFIG to the llvm-config of LLVM {}",
                self.install, self.major
            )
        }
    }

    fn query(config: &Path, flags: &[&str]) -> Result<String, String> {
        let output = Command::new(config).args(flags).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn major_of(version: &str) -> Option<u32> {
        version.split('.').next()?.parse().ok()
    }

    fn compile(llvm: &Llvm, wanted: &Wanted) -> Result<(), String> {
        println!("cargo:rerun-if-changed={SHIM}");
        let include = llvm.query("--includedir")?;
        if !Path::new(&include).join("llvm/CodeGen/MachineFunction.h").exists() {
            return Err(format!("LLVM's headers are not under {include}\n{}", wanted.remedy()));
        }
        let mut sources: Vec<PathBuf> = std::fs::read_dir(SHIM)
            .map_err(|error| format!("{SHIM}: {error}"))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
            .collect();
        // The order of the archive must not depend on the file system.
        sources.sort();
        let units = units(&sources)?;
        let mut compiler = cc::Build::new();
        compiler
            .cpp(true)
            .std("c++17")
            .flag("-fno-exceptions")
            // The plugin exports only its entry point; its other symbols must never replace those of the host.
            .flag("-fvisibility=hidden")
            .flag("-isystem")
            .flag(&include)
            .include(Path::new(SHIM).join("include"))
            .warnings(true)
            .extra_warnings(true)
            .files(units)
            // `link` prints the link arguments, because the archive must be linked as a whole.
            .cargo_metadata(false);
        // Line tables suffice for a backtrace; the types of LLVM's headers would be most of the plugin.
        if env("DEBUG")? != "false" {
            compiler.flag("-g1");
        }
        // A class derived from LLVM's refers to the base's type information, which exists only if LLVM is built with
        // it.
        if llvm.query("--has-rtti")? != "YES" {
            compiler.flag("-fno-rtti");
        }
        compiler.try_compile(ARCHIVE).map_err(|error| format!("the shim does not compile: {error}"))
    }

    /// Includes the sources in two files, one for each of two processors, because each source alone would read LLVM's
    /// headers again. The cost of a source is its size. The largest come first, each in the file that costs less so
    /// far.
    fn units(sources: &[PathBuf]) -> Result<[PathBuf; 2], String> {
        let root = PathBuf::from(env("CARGO_MANIFEST_DIR")?);
        let out = PathBuf::from(env("OUT_DIR")?);
        let mut sized = Vec::new();
        for source in sources {
            let size = std::fs::metadata(source).map_err(|error| format!("{}: {error}", source.display()))?.len();
            sized.push((size, source));
        }
        sized.sort_by_key(|&(size, source)| (std::cmp::Reverse(size), source));
        let (mut texts, mut costs) = ([String::new(), String::new()], [0, 0]);
        for (size, source) in sized {
            let unit = usize::from(costs[1] < costs[0]);
            texts[unit] += &format!("#include {:?}\n", root.join(source));
            costs[unit] += size;
        }
        let paths = [0, 1].map(|unit| out.join(format!("{ARCHIVE}_{unit}.cpp")));
        for (path, text) in paths.iter().zip(texts) {
            std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(paths)
    }

    fn bind(llvm: &Llvm, wanted: &Wanted) -> Result<(), String> {
        println!("cargo:rerun-if-changed={SHIM}/include");
        println!("cargo:rerun-if-env-changed=LIBCLANG_PATH");
        if std::env::var_os("LIBCLANG_PATH").is_none() {
            let libdir = llvm.query("--libdir")?;
            let has_libclang = std::fs::read_dir(&libdir)
                .map_err(|error| format!("{libdir}: {error}"))?
                .filter_map(Result::ok)
                .any(|entry| entry.file_name().to_string_lossy().starts_with("libclang"));
            if has_libclang {
                set_libclang_path(&libdir);
            }
        }
        let include = llvm.query("--includedir")?;
        let bindings = std::panic::catch_unwind(|| {
            bindgen::Builder::default()
                .headers(HEADERS.map(|header| format!("{SHIM}/include/{header}")))
                .clang_args(["-isystem", &include])
                .allowlist_item("(nvptx_ra|NVPTX_RA)_.*")
                // llvm-sys has the types of LLVM's C API.
                .blocklist_type("LLVM.*")
                .raw_line("use llvm_sys::prelude::{LLVMContextRef, LLVMMemoryBufferRef, LLVMModuleRef};")
                .raw_line("use llvm_sys::target_machine::LLVMTargetMachineRef;")
                .rust_edition(bindgen::RustEdition::Edition2024)
                .use_core()
                .derive_default(true)
                .generate()
        });
        // bindgen panics if it finds no libclang, and has already printed a message.
        let bindings = bindings
            .map_err(|_| format!("libclang was not found\n{}", wanted.remedy()))?
            .map_err(|error| format!("no bindings of the C ABI: {error}"))?;
        let out = PathBuf::from(env("OUT_DIR")?).join("nvptx_ra_bindings.rs");
        bindings.write_to_file(&out).map_err(|error| format!("{}: {error}", out.display()))
    }

    #[allow(unsafe_code, reason = "bindgen is told of libclang by the environment alone")]
    fn set_libclang_path(path: &str) {
        // SAFETY: the build script has one thread.
        unsafe { std::env::set_var("LIBCLANG_PATH", path) }
    }

    /// Links only programs with LLVM. The plugin uses LLVM's symbols from the program that loads it, because a second
    /// copy of LLVM would register every option twice.
    fn link(llvm: &Llvm) -> Result<(), String> {
        println!("cargo:rustc-link-search=native={}", env("OUT_DIR")?);
        // As a whole, because nothing refers to the static constructor.
        println!("cargo:rustc-link-lib=static:+whole-archive={ARCHIVE}");
        println!("cargo:rustc-link-lib=dylib=stdc++");
        let libdir = llvm.query("--libdir")?;
        // For the unit tests of the library, which name LLVM's library in an attribute: no link argument reaches only
        // them.
        println!("cargo:rustc-link-search=native={libdir}");
        for kind in programs()? {
            println!("cargo:rustc-link-arg-{kind}=-L{libdir}");
            println!("cargo:rustc-link-arg-{kind}=-lLLVM-{}", llvm.major);
            println!("cargo:rustc-link-arg-{kind}=-Wl,-rpath,{libdir}");
        }
        Ok(())
    }

    /// Returns the kinds of programs in this package: Cargo refuses link arguments for other kinds.
    fn programs() -> Result<Vec<&'static str>, String> {
        let text = std::fs::read_to_string("Cargo.toml").map_err(|error| format!("Cargo.toml: {error}"))?;
        let manifest: toml::Table = toml::from_str(&text).map_err(|error| format!("Cargo.toml: {error}"))?;
        println!("cargo:rerun-if-changed=Cargo.toml");
        let kinds = [("bin", "src/bin"), ("test", "tests"), ("bench", "benches"), ("example", "examples")];
        let has = |(kind, folder): &(&str, &str)| {
            manifest.contains_key(*kind)
                || std::fs::read_dir(folder).is_ok_and(|entries| {
                    entries.filter_map(Result::ok).map(|entry| entry.path()).any(|path| {
                        path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").exists()
                    })
                })
        };
        let plural = |kind| match kind {
            "bin" => "bins",
            "test" => "tests",
            "bench" => "benches",
            _ => "examples",
        };
        Ok(kinds.into_iter().filter(has).map(|(kind, _)| plural(kind)).collect())
    }

    fn env(name: &str) -> Result<String, String> {
        std::env::var(name).map_err(|error| format!("{name}: {error}"))
    }
}
