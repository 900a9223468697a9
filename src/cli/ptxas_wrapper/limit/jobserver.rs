//! The tokens of GNU make's jobserver protocol: bytes in a pipe. A process that takes a byte writes the same byte back
//! later.
//!
//! MAKEFLAGS contains the pipe. Since make 4.4, the option is `--jobserver-auth=fifo:PATH`. Earlier releases have
//! `--jobserver-auth=R,W` or `--jobserver-fds=R,W` with two file descriptors. These descriptors are opened again by
//! their names under `/proc`, so that this process can read without blocking. A non-blocking flag on the shared file
//! descriptions would affect all processes.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The options that contain the pipe.
const OPTIONS: [&str; 2] = ["--jobserver-auth=", "--jobserver-fds="];

/// Both ends of the pipe.
pub(super) struct Jobserver {
    reads: File,
    writes: File,
}

impl Jobserver {
    /// Opens the pipe in MAKEFLAGS. `None` if MAKEFLAGS has no pipe, or if the pipe is not accessible: make closes it
    /// for programs that make does not recognise as submakes.
    pub(super) fn open(flags: &str) -> Option<Self> {
        let [reads, writes] = pipe(flags)?;
        let (reads, writes) = (end(&reads, false)?, end(&writes, true)?);
        let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino())).ok();
        // If make has closed its files, their numbers may refer to other files.
        (identity(&reads)? == identity(&writes)?).then_some(Self { reads, writes })
    }

    /// Takes a token if one is free.
    pub(super) fn take(&self) -> Option<u8> {
        let mut byte = [0];
        loop {
            match (&self.reads).read(&mut byte) {
                Ok(read) => return (read == 1).then_some(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The pipe is empty, or closed.
                Err(_) => return None,
            }
        }
    }

    /// Make needs the same byte back.
    pub(super) fn give_back(&self, byte: u8) {
        if let Err(error) = (&self.writes).write_all(&[byte]) {
            log::warn!("a token of make's jobserver cannot be given back: {error}");
        }
    }
}

/// Opens one end of a pipe.
fn end(path: &Path, writes: bool) -> Option<File> {
    let mut options = OpenOptions::new();
    // Opening one end of a named pipe blocks until the other end is opened.
    let is_named = !path.starts_with("/proc");
    options.read(!writes || is_named).write(writes || is_named);
    options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    let is_pipe = |found: std::fs::Metadata| found.file_type().is_fifo();
    // Files of other kinds are not opened: opening a device, a tape for example, may have an effect.
    path.metadata().is_ok_and(is_pipe).then(|| options.open(path).ok())?
}

/// Returns the paths of both ends. The last of several options counts, and words after `--` are no options.
fn pipe(flags: &str) -> Option<[PathBuf; 2]> {
    let words = flags.split_ascii_whitespace().take_while(|word| *word != "--");
    let value = words.filter_map(|word| OPTIONS.iter().find_map(|option| word.strip_prefix(option))).last()?;
    if let Some(path) = value.strip_prefix("fifo:") {
        return Some([path.into(), path.into()]);
    }
    let (reads, writes) = value.split_once(',')?;
    // Make writes -2 for closed files.
    let of_file = |number: &str| number.parse::<u32>().ok().map(|number| format!("/proc/self/fd/{number}").into());
    Some([of_file(reads)?, of_file(writes)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each form of the option is read as make writes it.
    #[test]
    fn options_of_make() {
        let paths = |flags: &str| pipe(flags).map(|paths| paths.map(|path| path.display().to_string()).join(" "));
        let fifo = Some("/tmp/GMfifo7 /tmp/GMfifo7".to_owned());
        let files = Some("/proc/self/fd/3 /proc/self/fd/4".to_owned());
        assert_eq!(paths("ks -j8 --jobserver-auth=fifo:/tmp/GMfifo7 -- CC=--jobserver-auth=3,4"), fifo);
        assert_eq!(paths(" -j --jobserver-auth=3,4"), files);
        assert_eq!(paths("--jobserver-fds=5,6 -j --jobserver-fds=3,4"), files);
        for none in ["", "kj8", "--jobserver-auth=-2,-2", "--jobserver-auth=3", "-- --jobserver-auth=3,4"] {
            assert_eq!(paths(none), None, "{none}");
        }
    }

    /// A file that is not a pipe, or two different pipes, are rejected.
    #[test]
    fn other_files_are_not_read() {
        let file = tempfile::NamedTempFile::new().expect("there is space");
        for flags in [format!("--jobserver-auth=fifo:{}", file.path().display()), "--jobserver-auth=999,998".into()] {
            assert!(Jobserver::open(&flags).is_none(), "{flags}");
        }
        use std::os::fd::AsRawFd as _;
        let ((reads, writes), (_, other)) = (std::io::pipe().expect("a pipe"), std::io::pipe().expect("a pipe"));
        let flags = |writes: i32| format!("--jobserver-auth={},{writes}", reads.as_raw_fd());
        assert!(Jobserver::open(&flags(writes.as_raw_fd())).is_some());
        assert!(Jobserver::open(&flags(other.as_raw_fd())).is_none());
    }
}
