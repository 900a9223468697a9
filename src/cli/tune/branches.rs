//! Variants of a module that share LLVM's work before the first pass of this project, compiled by servers that fork.
//!
//! A server is worth its memory if the module takes long to compile. A server's output equals the output of this
//! process, byte for byte. Without a server, or if a server fails, this process compiles the variant.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::profile::Profile;
use nvptx_ra::tune::optimisations::Optimisations;

use super::code::CompiledVariant;
use super::compiler::Compiler;
use super::fork_server::{read_part, write_part};
use crate::interrupt::is_interrupted;
use crate::ptxas::Folder;

/// The most servers of a search. Each holds a module half-way through code generation, about 100 MB for a large module.
const MOST: usize = 16;

/// All servers of a search.
pub(super) struct Servers {
    folder: Folder,
    /// The least CPU time of LLVM with which a module gets servers.
    pub(super) least: Duration,
    started: AtomicUsize,
}

impl Servers {
    pub(super) fn new(least: Duration) -> Result<Self, Error> {
        Ok(Self { folder: Folder::new("fork")?, least, started: AtomicUsize::new(0) })
    }

    /// Returns the socket path of another server, if the limit permits one.
    fn admit(&self) -> Option<PathBuf> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        (number < MOST).then(|| self.folder.path(&number.to_string()))
    }
}

/// The work that a server shares between variants.
#[derive(Clone, Copy)]
pub(super) struct Shared<'c, 'a> {
    pub(super) compiler: &'c Compiler<'a>,
    /// The choices among LLVM's optimisations that apply to LLVM IR.
    pub(super) of_ir: Optimisations,
    /// The CPU time that LLVM is expected to take.
    pub(super) expected: Duration,
    /// The most CPU time for LLVM.
    pub(super) limit: Duration,
}

/// From this expected CPU time on, LLVM runs in a process that can be killed, even for the first variant.
const LONG: Duration = Duration::from_secs(2);

/// The servers of one module, by the LLVM optimisations of the variants' IR.
#[derive(Default)]
pub(super) struct Branches {
    fronts: Mutex<BTreeMap<Optimisations, Front>>,
    /// Sets of optimisations with which a process reached its limit. If the server itself reached it, compilation in
    /// this process would reach it, too.
    over: Mutex<BTreeSet<Optimisations>>,
}

/// The state of one set of LLVM optimisations.
enum Front {
    /// One variant has used this set.
    Seen,
    /// Other variants are compiled by this server.
    Served(Arc<Server>),
    /// Other variants are compiled in this process.
    Alone,
}

impl Branches {
    /// Compiles the PTX with the choices of a profile on a server. `None` if there is no server for the variant.
    /// `shared` returns the choices that all of the server's variants have in common. Fails at the limit, and if the
    /// user interrupts.
    pub(super) fn compile(
        &self,
        servers: &Servers,
        front: Shared<'_, '_>,
        shared: impl FnOnce() -> Profile,
        profile: &Profile,
    ) -> Option<Result<CompiledVariant, Error>> {
        let Shared { compiler, of_ir, limit, .. } = front;
        let server = self.server(servers, &front, |socket| Server::start(compiler, &shared(), socket, limit))?;
        let start = Instant::now();
        match server.compile(profile) {
            Ok(made) => Some(Ok(made)),
            Err(_) if is_interrupted() => Some(Err(Error::pass("LLVM was interrupted", ""))),
            // The system kills a process at its limit without a message. No process reaches the limit of CPU time
            // before this much time has passed.
            Err(_) if start.elapsed() >= limit || self.was_over(of_ir) => {
                self.over().insert(of_ir);
                let problem = format!("LLVM takes more than {} s of CPU time", limit.as_secs());
                Some(Err(Error::pass(problem, "the variant is discarded")))
            }
            Err(error) => {
                log::debug!("a fork server failed: {error}");
                self.lock().insert(of_ir, Front::Alone);
                None
            }
        }
    }

    fn over(&self) -> MutexGuard<'_, BTreeSet<Optimisations>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn was_over(&self, of_ir: Optimisations) -> bool {
        self.over().contains(&of_ir)
    }

    /// Returns the server for a set of optimisations. Stock's set gets a server at once. Other sets get a server when
    /// they are used for the second time.
    fn server(
        &self,
        servers: &Servers,
        &Shared { of_ir, expected, .. }: &Shared<'_, '_>,
        start: impl FnOnce(PathBuf) -> io::Result<Server>,
    ) -> Option<Arc<Server>> {
        let mut fronts = self.lock();
        match fronts.get(&of_ir) {
            None if of_ir != Optimisations::STOCK && expected < LONG => {
                fronts.insert(of_ir, Front::Seen);
                return None;
            }
            Some(Front::Served(server)) => return Some(Arc::clone(server)),
            Some(Front::Alone) => return None,
            None | Some(Front::Seen) => {}
        }
        let failed = |error: &io::Error| log::debug!("no fork server: {error}");
        let server = servers.admit().and_then(|socket| start(socket).inspect_err(failed).ok()).map(Arc::new);
        if server.is_some() {
            let options: Vec<String> = of_ir.options().collect();
            log::debug!("variants with '{}' are compiled by a fork server", options.join(";"));
        }
        let front = server.as_ref().map_or(Front::Alone, |server| Front::Served(Arc::clone(server)));
        fronts.insert(of_ir, front);
        server
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Optimisations, Front>> {
        self.fronts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process that compiles variants.
struct Server {
    process: Child,
    /// The connection over which the module is sent. The process ends when this connection is closed.
    owner: UnixStream,
    socket: PathBuf,
}

impl Server {
    fn start(compiler: &Compiler<'_>, shared: &Profile, socket: PathBuf, limit: Duration) -> io::Result<Self> {
        let listener = UnixListener::bind(&socket)?;
        let owner = UnixStream::connect(&socket)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("fork-server").arg(format!("--cpu-seconds={}", limit.as_secs())).args(compiler.arguments());
        // The process is not in the group that receives Ctrl-C, because this process decides when it ends.
        command.process_group(0).stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        // After this line, only the server process has the listening socket. Connections then fail once the server has
        // ended, instead of waiting for ever.
        drop(command);
        let mut server = Self { process, owner, socket };
        write_part(&mut server.owner, compiler.content())?;
        write_part(&mut server.owner, &printed(shared)?)?;
        Ok(server)
    }

    fn compile(&self, profile: &Profile) -> io::Result<CompiledVariant> {
        let mut stream = UnixStream::connect(&self.socket)?;
        write_part(&mut stream, &printed(profile)?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut stream = Interruptible(stream);
        let ptx = read_part(&mut stream)?;
        let computed = read_part(&mut stream)?.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(CompiledVariant { ptx, elsewhere: Duration::from_micros(u64::from_le_bytes(computed)) })
    }
}

/// The interval at which a wait for a server checks for an interruption.
const PATIENCE: Duration = Duration::from_millis(50);

/// A stream that is read until the user interrupts.
struct Interruptible(UnixStream);

impl io::Read for Interruptible {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match io::Read::read(&mut self.0, bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !is_interrupted() => {}
                read => return read,
            }
        }
    }
}

fn printed(profile: &Profile) -> io::Result<Vec<u8>> {
    profile.print("fork-server", &[]).map(String::into_bytes).map_err(|error| io::Error::other(error.to_string()))
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already. Its children end by themselves after their work.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
