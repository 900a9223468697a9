//! `nvptx-ra fork-server`: a compiler that does the common work of a module's variants once, and forks for each
//! variant.
//!
//! LLVM spends most of a variant's compile time before the first pass of this project. A server stops before that pass.
//! Each client then gets its own process, which continues with the client's profile. Standard input is the listening
//! socket. The owner opens the first connection and sends the module. The server ends when the owner closes this
//! connection.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;

use inkwell::context::Context;
use inkwell::module::Module;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nvptx_ra::error::Error;
use nvptx_ra::ffi::branch::{Side, at_branching_point, fork};
use nvptx_ra::ffi::profile;
use nvptx_ra::profile::Profile;

use super::cpu_time;
use crate::codegen::{self, ModuleArguments};

/// Compile the variants of a module that `tune` asks for
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    module: ModuleArguments,
    /// The most CPU time of the server, and of each process that it forks
    #[arg(long, value_name = "S", default_value_t = 3600)]
    cpu_seconds: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let limit = arguments.cpu_seconds;
    setrlimit(Resource::RLIMIT_CPU, limit, limit).map_err(|error| {
        Error::pass(format!("the CPU time of the server cannot be limited: {error}"), "check the system's limits")
    })?;
    let lost = |error: io::Error| Error::file("standard input".as_ref(), &error);
    let listener = UnixListener::from(io::stdin().as_fd().try_clone_to_owned().map_err(lost)?);
    let (mut owner, _) = listener.accept().map_err(lost)?;
    let content = read_part(&mut owner).map_err(lost)?;
    let shared = read_profile(&mut owner)?;
    let context = Context::create();
    let ModuleArguments { name, cpu, settings } = &arguments.module;
    let module = codegen::parse(&context, &content, name)?;
    profile::replay_attributes(&module, &shared);
    let mut client = None;
    let ptx = at_branching_point(
        || client = wait_for_clients(&listener, &owner, &module),
        || settings.emit_quietly(&context, &module, cpu),
    )?;
    if let Some(mut client) = client {
        let computed = u64::try_from(cpu_time::of_process().as_micros()).unwrap_or(u64::MAX);
        write_part(&mut client, &ptx).and_then(|()| write_part(&mut client, &computed.to_le_bytes())).map_err(lost)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Forks for each client. Returns only in the child, where the module has the client's choices.
fn wait_for_clients(listener: &UnixListener, owner: &UnixStream, module: &Module<'_>) -> Option<UnixStream> {
    loop {
        if !comes_client(listener.as_fd(), owner.as_fd()) {
            std::process::exit(0);
        }
        // Collects the children that have ended.
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status != WaitStatus::StillAlive) {}
        let (mut client, _) = listener.accept().ok()?;
        if fork().ok()? == Side::Child {
            let Ok(chosen) = read_profile(&mut client) else { std::process::exit(1) };
            profile::replay_attributes(module, &chosen);
            return Some(client);
        }
    }
}

/// Waits for a connection. Returns `false` if the owner has closed its connection.
fn comes_client(listener: BorrowedFd<'_>, owner: BorrowedFd<'_>) -> bool {
    let mut events = [PollFd::new(listener, PollFlags::POLLIN), PollFd::new(owner, PollFlags::POLLIN)];
    loop {
        match poll(&mut events, PollTimeout::NONE) {
            // The owner sends nothing more, so any event means that the owner has closed the connection.
            Ok(_) if events[1].any().unwrap_or(true) => return false,
            Ok(_) => return true,
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

fn read_profile(stream: &mut UnixStream) -> Result<Profile, Error> {
    let part = read_part(stream).map_err(|error| Error::file("a client".as_ref(), &error))?;
    Profile::parse(&String::from_utf8_lossy(&part))
}

/// Sends the number of bytes, then the bytes.
pub(super) fn write_part(stream: &mut UnixStream, part: &[u8]) -> io::Result<()> {
    stream.write_all(&(part.len() as u64).to_le_bytes())?;
    stream.write_all(part)
}

/// Reads all bytes that [`write_part`] has sent.
pub(super) fn read_part(stream: &mut impl io::Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut part = Vec::new();
    stream.take(length).read_to_end(&mut part)?;
    if part.len() as u64 == length { Ok(part) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sent bytes arrive, and an incomplete transfer is an error.
    #[test]
    fn parts() {
        let (mut here, mut there) = UnixStream::pair().expect("there are sockets");
        for part in [&b""[..], b"k", &[7; 1000]] {
            write_part(&mut here, part).expect("it is read");
            assert_eq!(read_part(&mut there).expect("it was sent"), part);
        }
        here.write_all(&9u64.to_le_bytes()).and_then(|()| here.write_all(b"short")).expect("there is room");
        drop(here);
        assert_eq!(read_part(&mut there).expect_err("four are missing").kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read_part(&mut there).expect_err("nothing comes").kind(), io::ErrorKind::UnexpectedEof);
    }

    /// A server waits for clients while it has an owner.
    #[test]
    fn owners() {
        let folder = tempfile::tempdir().expect("there is space");
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).expect("the path is free");
        let (owner, other_end) = UnixStream::pair().expect("there are sockets");
        let _client = UnixStream::connect(&path).expect("it listens");
        assert!(comes_client(listener.as_fd(), owner.as_fd()));
        let _accepted = listener.accept().expect("somebody connects");
        drop(other_end);
        // Without a client, the server waits until the owner closes its connection. Processes that other tests start
        // may hold copies of the connection until they execute their programs.
        assert!(!comes_client(listener.as_fd(), owner.as_fd()));
        let _too_late = UnixStream::connect(&path).expect("it listens");
        assert!(!comes_client(listener.as_fd(), owner.as_fd()));
    }
}
