//! The stored result of a search, in the cache and in a folder of profiles.

use nvptx_ra::error::Error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::invocation::{Input, Invocation};
use super::kernel_cache::KernelCache;
use super::real_ptxas::RealPtxas;
use super::settings::Settings;
use crate::cache::{Cache, Key, KeyBuilder, program};
use crate::tune::request::{ChangedKernel, UnchangedKernel};

/// Most bytes that a cache may occupy on disk.
pub(super) const BOUND: u64 = 1 << 30;

/// The result of a search, independent of the PTX file's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// ptxas's messages for the stock PTX, without the file's name.
    pub(super) messages: String,
    /// `None` if no variant is better than stock.
    pub(super) choice: Option<CachedChoice>,
    /// The name of the searched file, and its processor; empty in entries of earlier versions.
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) processor: String,
    /// Duration of the search.
    #[serde(default)]
    pub(super) milliseconds: u64,
    /// The kernels that stay stock; empty in entries of earlier versions.
    #[serde(default)]
    pub(super) left: Vec<UnchangedKernel>,
    /// How many kernels were not searched for this PTX module, because the cache had their results from other modules.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) known: usize,
}

/// Whether a number is zero, so that it is not serialised.
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A better variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedChoice {
    /// The profile from which the variant is made.
    pub(super) profile: String,
    /// Digest of the kernel properties in the cubin.
    pub(super) figures: String,
    pub(super) changes: Vec<ChangedKernel>,
}

/// The cache entry of an invocation, which need not exist yet.
pub(super) struct Place {
    cache: Cache,
    key: KeyBuilder,
    /// The part of the key that all kernels of the invocation share.
    of_kernels: KeyBuilder,
    /// Key of the comparisons between delivered code and PTX.
    of_checks: KeyBuilder,
}

impl Place {
    /// Returns the entry; `None` if there is no cache. The key covers everything that can change the result, except a
    /// profile of the PTX.
    pub(super) fn of(
        invocation: &Invocation,
        input: &Input,
        settings: &Settings,
        ptxas: &RealPtxas,
    ) -> Result<Option<Self>, Error> {
        let Some(folder) = &settings.cache else { return Ok(None) };
        let cache = Cache::open(folder, BOUND)?;
        let ptxas = program::digest(&ptxas.path, Some(&cache)).map_err(|error| Error::file(&ptxas.path, &error))?;
        let (mut key, mut of_kernels) = (KeyBuilder::new("search"), KeyBuilder::new("kernel"));
        let mut of_checks = KeyBuilder::new("check");
        key.field("text", &input.text);
        of_checks.field("text", &input.text);
        for key in [&mut key, &mut of_kernels, &mut of_checks] {
            key.field("ptxas", ptxas.as_bytes());
            for option in &invocation.options {
                key.field("option", option.as_bytes());
            }
            for path in &invocation.files {
                key.field("file", &std::fs::read(path).map_err(|error| Error::file(path, &error))?);
            }
        }
        key.field("verbose", &[u8::from(invocation.verbose)]).field("settings", settings.of_search().as_bytes());
        of_kernels.field("linked later", &[u8::from(invocation.is_relocatable)]);
        of_kernels.field("settings", settings.of_kernels().as_bytes());
        of_checks.field("left out", settings.exclusions.as_text().as_bytes());
        of_checks.field("dynamic-shared", format!("{:?}", settings.dynamic_shared).as_bytes());
        Ok(Some(Self { cache, key, of_kernels, of_checks }))
    }

    /// Returns the cached results of kernels. `how` describes their search, and is part of the key.
    pub(super) fn kernels(&self, how: &str) -> KernelCache {
        let mut alike = self.of_kernels.clone();
        alike.field("how", how.as_bytes());
        KernelCache::new(self.cache.clone(), alike)
    }

    /// Returns the cache entry of the PTX, by its profile if it has one. An entry of a search counts only if it has the
    /// same profile.
    pub(super) fn get(&self, profile: Option<&str>) -> Option<Entry> {
        let entry = self.cache.get(&self.key(profile));
        let is_profile = |entry: &Entry| entry.choice.as_ref().map(|choice| choice.profile.as_str()) == profile;
        entry.or_else(|| profile.and_then(|_| self.cache.get(&self.key(None)).filter(is_profile)))
    }

    pub(super) fn put(&self, entry: &Entry, profile: Option<&str>) -> Result<(), Error> {
        self.cache.put(&self.key(profile), entry)
    }

    /// Returns the cached comparison of the code that the profile `made_by` makes of the PTX. An empty profile stands
    /// for stock code.
    pub(super) fn checked<T: DeserializeOwned>(&self, made_by: &str) -> Option<T> {
        self.cache.get(&self.key_of_check(made_by))
    }

    pub(super) fn put_checked<T: Serialize>(&self, made_by: &str, checked: &T) -> Result<(), Error> {
        self.cache.put(&self.key_of_check(made_by), checked)
    }

    pub(super) fn key_of_check(&self, made_by: &str) -> Key {
        self.of_checks.clone().field("made by", made_by.as_bytes()).key()
    }

    fn key(&self, profile: Option<&str>) -> Key {
        let mut key = self.key.clone();
        if let Some(profile) = profile {
            key.field("profile", profile.as_bytes());
        }
        key.key()
    }
}

/// Returns the digest of some bytes, in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_string()
}
