use super::*;

fn release(text: &str) -> Release {
    text.parse().unwrap_or_else(|problem: String| panic!("{problem}"))
}

/// Writes a script that replaces Python. If called as pip, the script writes a wheel with the name `wheel`, or fails
/// with these words. Other calls go to Python.
fn python(folder: &Path, wheel: &str, words: &str) -> OsString {
    let script = folder.join("python");
    let pip = match words {
        "" => format!("eval folder=\\${{$(($#-1))}}; echo \"$@\" > {}/asked; cp {wheel} \"$folder\"", folder.display()),
        _ => format!("echo '{words}' >&2; exit 1"),
    };
    let text = format!("#!/bin/sh\nif [ \"$2\" = pip ]; then\n{pip}\nelse exec python3 \"$@\"\nfi\n");
    fs::write(&script, text).expect("there is space");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    script.into()
}

/// Makes a wheel that contains this ptxas in a folder.
fn wheel(folder: &Path, name: &str, inside: &str, ptxas: &str) -> String {
    let root = folder.join(format!("of-{name}"));
    let program = root.join(inside);
    fs::create_dir_all(program.parent().expect("a folder")).expect("there is space");
    fs::write(&program, ptxas).expect("there is space");
    let path = folder.join(name);
    let top = root.join(inside.split('/').next().unwrap_or_default());
    let done = Command::new("python3").args(["-m", "zipfile", "-c"]).args([&path, &top]).status();
    assert!(done.expect("there is Python").success());
    path.to_string_lossy().into_owned()
}

const NVCC: &str = "nvidia/cuda_nvcc/bin/ptxas";

/// Numbers of two or three parts from 12.0 on are releases, each with its package.
#[test]
fn numbers() {
    let of = |text: &str| text.parse::<Release>().map(Release::requirement).ok();
    assert_eq!(of("12.8").as_deref(), Some("nvidia-cuda-nvcc-cu12==12.8.*"));
    assert_eq!(of("12.8.93").as_deref(), Some("nvidia-cuda-nvcc-cu12==12.8.93"));
    assert_eq!(of("13.5").as_deref(), Some("nvidia-cuda-nvcc==13.5.*"));
    assert_eq!(["11.8", "12", "12.8.1.2", "12.x", "", "../12.8"].map(of), [const { None }; 6]);
}

/// The folder of releases is the folder in the variable, or else a folder in the user's cache folder.
#[test]
fn folders() {
    let of = |variables: &[(&str, &str)]| {
        folder(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    };
    let all = [("HOME", "/h"), ("XDG_CACHE_HOME", "/c"), (FOLDER, "/r")];
    assert_eq!(of(&all[..1]), Some("/h/.cache/nvptx-ra/ptxas".into()));
    assert_eq!(of(&all[..2]), Some("/c/nvptx-ra/ptxas".into()));
    assert_eq!((of(&all), of(&[])), (Some("/r".into()), None));
}

/// Without permission, nothing is downloaded, and the error explains how to give permission. With permission, a wheel
/// is extracted to an executable program. The next call uses this program without pip.
#[test]
fn downloads_once() {
    let other = tempfile::tempdir().expect("there is space");
    for (number, inside, name) in [
        ("12.8.93", NVCC, "nvidia_cuda_nvcc_cu12-12.8.93-py3-none-manylinux_2_17_x86_64.whl"),
        ("13.5.37", "nvidia/cu13/bin/ptxas", "nvidia_cuda_nvcc-13.5.37-py3-none-manylinux_2_17_x86_64.whl"),
    ] {
        let home = tempfile::tempdir().expect("there is space");
        let folder = home.path().join("ptxas");
        let wheel = wheel(other.path(), name, inside, "#!/bin/sh\necho it runs\n");
        let releases = Releases { folder: folder.clone(), python: python(other.path(), &wheel, "") };
        let short = release(&number[..4]);
        let error = releases.ptxas(short, false).expect_err("it is not there").to_string();
        assert!(error.contains("--download") && error.contains(&short.requirement()), "{error}");
        assert!(!other.path().join("asked").exists());
        let program = releases.ptxas(short, true).expect("it is fetched");
        assert_eq!(program, folder.join(number).join("ptxas"));
        let said = Command::new(&program).output().expect("it can be run");
        assert_eq!(said.stdout, b"it runs\n");
        let asked = fs::read_to_string(other.path().join("asked")).expect("pip was asked");
        assert!(asked.contains("--no-deps") && asked.trim().ends_with(&short.requirement()), "{asked}");
        let names: Vec<_> =
            fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(names, [number], "nothing but ptxas is left");
        let without = Releases { folder, python: "no-such-python".into() };
        assert_eq!(without.ptxas(short, true), Ok(program.clone()));
        assert_eq!(without.ptxas(release(number), false), Ok(program));
        fs::remove_file(other.path().join("asked")).expect("it is ours");
    }
}

/// Among several builds, the newest is chosen by number and not by letters. If the user gives a build, exactly this
/// build is used.
#[test]
fn the_newest_build() {
    let folder = tempfile::tempdir().expect("there is space");
    for number in ["12.8.61", "12.8.93", "12.8.105", "12.9.200", "13.5.37"] {
        fs::create_dir_all(folder.path().join(number)).expect("there is space");
        fs::write(folder.path().join(number).join(PROGRAM), "").expect("there is space");
    }
    // A folder that the user has made, without a program.
    fs::create_dir(folder.path().join("12.8.999")).expect("there is space");
    let releases = Releases { folder: folder.path().into(), python: "no-such-python".into() };
    let of = |text: &str| {
        releases.ptxas(release(text), false).map(|path| path.strip_prefix(folder.path()).map(Path::to_owned))
    };
    assert_eq!(of("12.8"), Ok(Ok("12.8.105/ptxas".into())));
    assert_eq!(of("12.8.61"), Ok(Ok("12.8.61/ptxas".into())));
    assert!(of("12.8.999").is_err() && of("12.7").is_err());
}

/// A wheel in the folder is extracted without pip. A wheel without ptxas, or a broken archive, is an error with its
/// name.
#[test]
fn wheels_by_hand() {
    let folder = tempfile::tempdir().expect("there is space");
    let other = tempfile::tempdir().expect("there is space");
    let releases = Releases { folder: folder.path().into(), python: "python3".into() };
    let put = |name: &str, inside: &str| {
        let from = wheel(other.path(), name, inside, "#!/bin/sh\n");
        fs::copy(from, folder.path().join(name)).expect("there is space");
    };
    put("nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux1_x86_64.whl", NVCC);
    assert_eq!(releases.ptxas(release("12.4"), false), Ok(folder.path().join("12.4.131/ptxas")));
    put("nvidia_cuda_nvcc_cu12-12.5.82-py3-none-manylinux1_x86_64.whl", "nvidia/cuda_nvcc/bin/nvcc");
    let error = releases.ptxas(release("12.5"), false).expect_err("no ptxas").to_string();
    assert!(error.contains("12.5.82") && error.contains("it has no bin/ptxas"), "{error}");
    fs::write(folder.path().join("nvidia_cuda_nvcc_cu12-12.6.85-py3-none-any.whl"), "no archive").expect("space");
    let error = releases.ptxas(release("12.6"), false).expect_err("no archive").to_string();
    assert!(error.contains("12.6.85") && error.contains("not a zip file"), "{error}");
    assert!(!folder.path().join("12.5.82").exists() && !folder.path().join("12.6.85").exists());
}

/// Without Python, without pip, or if pip finds nothing, the error contains the reason, and the folder for a wheel.
#[test]
fn no_download() {
    let folder = tempfile::tempdir().expect("there is space");
    let other = tempfile::tempdir().expect("there is space");
    let failed = |python: OsString| {
        let releases = Releases { folder: folder.path().into(), python };
        releases.ptxas(release("12.7"), true).expect_err("it fails").to_string()
    };
    let hand = format!(
        "put the wheel nvidia_cuda_nvcc_cu12-12.7….whl of https://pypi.org/project/nvidia-cuda-nvcc-cu12/#files into {}",
        folder.path().display()
    );
    let nothing = "ERROR: Could not find a version (from versions: 12.0.76)\nERROR: No matching distribution";
    for (python, why) in [
        ("no-such-python".into(), "no-such-python, whose pip downloads it, is not there"),
        (python(other.path(), "", nothing), "pip: ERROR: Could not find a version (from versions: 12.0.76)"),
    ] {
        let error = failed(python);
        assert!(error.contains(why) && error.contains(&hand), "{error}");
    }
    let error = failed(python(other.path(), "", "/usr/bin/python3: No module named pip"));
    assert!(error.contains("No module named pip"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
}
