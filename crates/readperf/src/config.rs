//! What a user has agreed to once and for all: `readperf/config.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
//!
//! ```toml
//! [debuginfod]
//! ask = true      # ask the servers in DEBUGINFOD_URLS for binaries, debug files and source files that are missing
//! ```

use anyhow::Context as _;
use etcetera::{BaseStrategy as _, choose_base_strategy};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// The configuration. Without a file it is the default.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) debuginfod: DebuginfodConfig,
}

/// Of servers that give out binaries and debug files.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DebuginfodConfig {
    /// Whether they are asked without `--debuginfod`.
    pub(crate) ask: bool,
}

impl Config {
    /// Where the file is, if there is one.
    pub(crate) fn path() -> Option<PathBuf> {
        Some(choose_base_strategy().ok()?.config_dir().join("readperf/config.toml"))
    }

    /// Reads the user's file.
    pub(crate) fn read() -> anyhow::Result<Config> {
        Config::path().map_or(Ok(Config::default()), |path| Config::read_from(&path))
    }

    fn read_from(path: &Path) -> anyhow::Result<Config> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Config::default());
            }
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        toml::from_str(&text).with_context(|| path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text)?;
        Config::read_from(&path)
    }

    #[test]
    fn nothing_is_agreed_to_unless_it_is_said() {
        assert_eq!(Config::read_from(Path::new("/nonexistent/config.toml")).unwrap(), Config::default());
        for text in ["", "[debuginfod]", "[debuginfod]\nask = false"] {
            assert!(!read(text).unwrap().debuginfod.ask, "{text}");
        }
        assert!(read("[debuginfod]\nask = true").unwrap().debuginfod.ask);
    }

    /// A word that is mistyped is not passed over: the user would believe in vain to have said something.
    #[test]
    fn mistakes_are_told_with_the_file_and_the_line() {
        let error = format!("{:#}", read("[debuginfod]\nasks = true").unwrap_err());
        assert!(
            error.contains("config.toml") && error.contains("asks") && error.contains("line 2"),
            "{error}"
        );
        assert!(read("[debuginfod]\nask = \"yes\"").is_err());
    }
}
