//! Servers that give out binaries, debug files and source files by build-id (debuginfod). Asked only if the caller says so.
//!
//! The cache is that of elfutils' own client, so that both share what was fetched: `CACHE/BUILD-ID/debuginfo`,
//! `…/executable` and `…/source#usr#src#main.c`; an empty file says that no server had it, for as many seconds as `CACHE/cache_miss_s` says.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use readperf_files::ScratchFile;

use super::{Place, Proof, Search};
use crate::build_id::BuildId;
use crate::file_loader::FileLoader;
use crate::image::Image;
use crate::reason::Reason;

pub(super) const BINARY: Place = Place { candidates: binaries, proof: Proof::SameId };
pub(super) const DEBUG_FILE: Place = Place { candidates: debug_files, proof: Proof::SameId };

/// How long "no server has it" holds when the cache does not say, in seconds; elfutils has the same.
const DEFAULT_MISS_SECONDS: u64 = 600;

/// Largest source file that is fetched, in bytes.
const MOST_SOURCE_BYTES: u64 = 64 << 20;

/// Longest name of a file in the cache, in bytes.
const MOST_NAME_BYTES: usize = 255;

/// What of a binary is asked for.
struct Kind {
    /// How the address ends.
    address: String,
    /// The name in the cache.
    name: String,
    /// Whether it is an ELF file, which shows by its build-id that it is the right one.
    is_elf: bool,
}

impl Kind {
    fn elf(name: &str) -> Kind {
        Kind { address: name.to_owned(), name: name.to_owned(), is_elf: true }
    }

    /// The source file of a path. `None` if that is not absolute, or too long for the cache.
    fn source(path: &str) -> Option<Kind> {
        let is_name = !path.contains('\0') && path.len() + "source".len() <= MOST_NAME_BYTES;
        let path = Some(path).filter(|path| path.starts_with('/') && is_name)?;
        let address = format!("source{}", escaped(path));
        Some(Kind { address, name: format!("source{}", path.replace('/', "#")), is_elf: false })
    }
}

/// A path as a part of an address (RFC 3986).
fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let escape = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}

/// Which servers to ask, and where to keep what they give.
#[derive(Clone)]
pub struct Debuginfod {
    /// Addresses of servers (`https://…`), asked in this order.
    pub urls: Vec<String>,
    /// The cache.
    pub cache: PathBuf,
    /// How long a server may take to answer, and then to go on sending.
    pub timeout: Duration,
    /// How long fetching one file may take.
    pub max_time: Duration,
    /// Largest file that is fetched, in bytes.
    pub max_bytes: u64,
    state: Arc<Mutex<State>>,
}

/// What was found out about the servers.
#[derive(Debug, Default)]
struct State {
    /// Servers that did not answer: they are not asked again.
    dead: Vec<(String, Reason)>,
    /// Files that were not what was asked for.
    wrong: Vec<(BuildId, Reason)>,
}

impl Debuginfod {
    /// Asks these servers, and keeps what they give in this directory.
    pub fn new(urls: Vec<String>, cache: PathBuf) -> Debuginfod {
        Debuginfod {
            urls,
            cache,
            timeout: Duration::from_secs(20),
            max_time: Duration::from_secs(600),
            max_bytes: 4 << 30,
            state: Arc::default(),
        }
    }

    /// As elfutils' client is told by the environment: servers from `DEBUGINFOD_URLS`, the cache from
    /// `DEBUGINFOD_CACHE_PATH`, `XDG_CACHE_HOME` or `HOME`, the time from `DEBUGINFOD_TIMEOUT` (seconds). `None` when
    /// no server is named. To be called where a program starts, if its user wants this.
    pub fn from_environment() -> Option<Debuginfod> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let urls = variable("DEBUGINFOD_URLS")?.into_string().ok()?;
        let urls: Vec<String> = urls.split_whitespace().map(str::to_owned).collect();
        let given = || variable("DEBUGINFOD_CACHE_PATH").map(PathBuf::from);
        let common = || Some(PathBuf::from(variable("XDG_CACHE_HOME")?).join("debuginfod_client"));
        let home = || Some(PathBuf::from(variable("HOME")?).join(".cache/debuginfod_client"));
        let cache = given().or_else(common).or_else(home)?;
        let seconds = variable("DEBUGINFOD_TIMEOUT").and_then(|text| text.into_string().ok()?.parse().ok());
        let mut servers = Debuginfod::new(urls, cache);
        servers.timeout = seconds.map_or(servers.timeout, Duration::from_secs);
        (!servers.urls.is_empty()).then_some(servers)
    }

    /// Why there may be a file although no server gave it.
    pub(super) fn failure(&self, build_id: Option<BuildId>) -> Option<Reason> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = state.wrong.iter().find(|(id, _)| Some(*id) == build_id).map(|(_, reason)| reason);
        wrong.or_else(|| state.dead.first().map(|(_, reason)| reason)).cloned()
    }

    /// The path in the cache of a source file of a binary, by its path as the compiler wrote it; fetched before, if need be. `None` if no
    /// server has it, or if the path is not one that a server may be asked for: it has to be absolute.
    ///
    /// # Errors
    /// Why there may be one although no server gave it.
    pub fn source(
        &self,
        build_id: &BuildId,
        path: &str,
        loader: &FileLoader,
    ) -> Result<Option<PathBuf>, Reason> {
        let Some(build_id) = build_id.spellings().pop() else { return Ok(None) };
        let Some(kind) = Kind::source(path) else { return Ok(None) };
        match self.file(&build_id, &kind, loader) {
            Some(path) => Ok(Some(path)),
            None => self.failure(Some(build_id)).map_or(Ok(None), Err),
        }
    }

    /// The path of a file in the cache; fetched before, if need be.
    fn file(&self, build_id: &BuildId, kind: &Kind, loader: &FileLoader) -> Option<PathBuf> {
        let directory = self.cache.join(build_id.to_string());
        let path = directory.join(&kind.name);
        match fs::metadata(&path) {
            Ok(known) if known.len() > 0 => return Some(path),
            Ok(missed) if self.still_holds(&missed) => return None,
            _ => {}
        }
        let mut had_all_answers = true;
        for url in &self.urls {
            if self.is_dead(url) {
                had_all_answers = false;
                continue;
            }
            match self.fetch(url, build_id, kind, &directory, loader) {
                Ok(Some(fetched)) => match fetched.rename(&path) {
                    Ok(()) => return Some(path),
                    Err(error) => self.note(url, build_id, &error),
                },
                Ok(None) => continue,
                Err(error) => self.note(url, build_id, &error),
            }
            had_all_answers = false;
        }
        if had_all_answers && fs::create_dir_all(&directory).is_ok() {
            // An old mark is replaced, so that its time is that of the last question.
            let _ = fs::remove_file(&path);
            let _ = fs::OpenOptions::new().write(true).create_new(true).open(&path);
        }
        None
    }

    /// Whether a mark that no server had a file is young enough.
    fn still_holds(&self, mark: &fs::Metadata) -> bool {
        let configured = fs::read_to_string(self.cache.join("cache_miss_s"));
        let seconds =
            configured.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(DEFAULT_MISS_SECONDS);
        let age = mark.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        age < Duration::from_secs(seconds)
    }

    fn is_dead(&self, url: &str) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.dead.iter().any(|(dead, _)| dead == url)
    }

    fn note(&self, url: &str, build_id: &BuildId, error: &io::Error) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = Reason::NotDownloaded { url: url.to_owned(), error: error.to_string() };
        // One file may be wrong; a server that does not answer will keep everyone waiting each time.
        match error.kind() {
            io::ErrorKind::InvalidData => state.wrong.push((*build_id, reason)),
            _ => state.dead.push((url.to_owned(), reason)),
        }
    }

    /// Fetches a file to a temporary one in the cache. `None` when the server does not have it.
    fn fetch(
        &self,
        url: &str,
        build_id: &BuildId,
        kind: &Kind,
        directory: &Path,
        loader: &FileLoader,
    ) -> io::Result<Option<ScratchFile>> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(self.timeout))
            .timeout_recv_response(Some(self.timeout))
            .timeout_global(Some(self.max_time))
            .user_agent("readperf")
            .build();
        let agent = ureq::Agent::new_with_config(config);
        let address = format!("{}/buildid/{build_id}/{}", url.trim_end_matches('/'), kind.address);
        let response = agent.get(&address).call().map_err(io::Error::other)?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(None),
            status => return Err(io::Error::other(format!("status {status}"))),
        }
        fs::create_dir_all(directory)?;
        let mut file = ScratchFile::in_folder(directory, "readperf-")?;
        let most = if kind.is_elf { self.max_bytes } else { self.max_bytes.min(MOST_SOURCE_BYTES) };
        let limit = most.saturating_add(1);
        let mut body = response.into_body().into_with_config().limit(limit).reader().take(limit);
        let length = io::copy(&mut body, &mut file)?;
        if length > most {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a file that is too large"));
        }
        if kind.is_elf && !has_build_id(file.path(), build_id, loader)? {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a file with another build-id"));
        }
        Ok(Some(file))
    }
}

impl fmt::Debug for Debuginfod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debuginfod")
            .field("urls", &self.urls)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

fn has_build_id(path: &Path, wanted: &BuildId, loader: &FileLoader) -> io::Result<bool> {
    let bytes = loader.load(path)?;
    let found = Image::parse((*bytes).as_ref()).and_then(|image| image.build_id());
    Ok(found.is_some_and(|found| found.matches(wanted)))
}

fn binaries(search: &Search<'_>) -> Vec<PathBuf> {
    file(search, "executable")
}

fn debug_files(search: &Search<'_>) -> Vec<PathBuf> {
    file(search, "debuginfo")
}

fn file(search: &Search<'_>, kind: &str) -> Vec<PathBuf> {
    let Some(servers) = &search.options.debuginfod else { return Vec::new() };
    // A padded id is asked for without its padding: that is what servers read in the file.
    let Some(build_id) = search.build_id.and_then(|id| id.spellings().pop()) else { return Vec::new() };
    let loader = &search.options.file_loader;
    let found = servers.file(&build_id, &Kind::elf(kind), loader);
    if found.is_none() {
        // A server may have it tomorrow.
        loader.note_other_source();
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sources_in_addresses_and_in_the_cache() {
        let kind = Kind::source("/usr/src/a b/ö+.c").unwrap();
        assert_eq!(kind.address, "source/usr/src/a%20b/%C3%B6%2B.c");
        assert_eq!(kind.name, "source#usr#src#a b#ö+.c");
        for path in ["", "main.c", "../main.c", &format!("/{}", "x".repeat(250)), "/a\0b"] {
            assert!(Kind::source(path).is_none(), "{path}");
        }
        // Nothing of a path leads out of the folder of the build-id.
        assert_eq!(Kind::source("/../../x").unwrap().name, "source#..#..#x");
    }
}
