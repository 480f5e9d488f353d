//! Everything that the environment decides, as data: read in one place, and given by hand in tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::check::Glibc;
use crate::error::{Code, Error, Result};
use crate::manifest::{ROWS, Row};
use crate::platform::Machine;

/// Where to look, where to put things, and whom to ask.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The folder that plugins, headers and downloads go into.
    pub cache: PathBuf,
    /// The value of `PJRT_PLUGIN_LIBRARY_PATH`.
    pub plugin_path: Option<PathBuf>,
    /// The value of `TPU_LIBRARY_PATH`.
    pub tpu_path: Option<PathBuf>,
    /// Folders that Python packages are installed in, in the order in which they are searched.
    pub site_packages: Vec<PathBuf>,
    /// The package index; `None` for the one of each row's registry.
    pub index: Option<String>,
    /// What set `index`, such as a variable's name or a file's path, for messages.
    pub index_source: Option<String>,
    /// How the network is reached.
    pub proxy: Proxy,
    /// What is pinned.
    pub manifest: Vec<Row>,
    /// The machine to find plugins for.
    pub machine: Option<Machine>,
    /// The glibc that plugins will meet; `None` when it is unknown, and then nothing is refused.
    pub glibc: Option<Glibc>,
}

/// The proxy that requests go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// As `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    FromEnvironment,
    /// None, whatever the environment says.
    Direct,
    /// This one.
    Url(String),
}

impl Settings {
    /// The settings of the environment.
    ///
    /// # Errors
    /// When no cache folder can be named: see [`cache_root`].
    pub fn from_env() -> Result<Settings> {
        let mut settings = Settings::isolated(cache_root()?);
        settings.plugin_path = path_variable("PJRT_PLUGIN_LIBRARY_PATH");
        settings.tpu_path = path_variable("TPU_LIBRARY_PATH");
        settings.site_packages = site_packages();
        (settings.index_source, settings.index) = configured_index().unzip();
        settings.proxy = Proxy::FromEnvironment;
        Ok(settings)
    }

    /// Settings that take nothing from the environment but the machine it runs on: no path
    /// variables, no Python packages, no proxy, the manifest's own registries.
    pub fn isolated(cache: impl Into<PathBuf>) -> Settings {
        Settings {
            cache: cache.into(),
            plugin_path: None,
            tpu_path: None,
            site_packages: Vec::new(),
            index: None,
            index_source: None,
            proxy: Proxy::Direct,
            manifest: ROWS.to_vec(),
            machine: Machine::host(),
            glibc: Glibc::running(),
        }
    }

    /// Where the wheel of a row may be put by hand, to be used without the network.
    pub fn by_hand(&self, row: &Row) -> PathBuf {
        self.cache.join("downloads").join(row.wheel)
    }
}

/// The cache folder: `RECTIFLOW_CACHE`, else `rectiflow` in the user's cache folder.
///
/// # Errors
/// When neither that variable nor a home folder is known.
pub fn cache_root() -> Result<PathBuf> {
    if let Some(path) = path_variable("RECTIFLOW_CACHE") {
        return Ok(path);
    }
    let user = etcetera::choose_base_strategy().map_err(|e| {
        let message = "no home folder is known; set RECTIFLOW_CACHE to a folder you can write";
        Error::new(Code::CacheUnwritable, message).because(e)
    })?;
    Ok(user.cache_dir().join("rectiflow"))
}

/// A variable that is set to nothing counts as not set, as it does for pip and for the loader.
fn path_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

fn text_variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|v| !v.trim().is_empty())
}

/// The index that uv or pip would ask, and what says so: variables first, then pip's configuration
/// files from the most to the least specific.
fn configured_index() -> Option<(String, String)> {
    ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"]
        .into_iter()
        .find_map(|name| Some((name.to_owned(), text_variable(name)?)))
        // uv also takes `name=url`.
        .map(|(name, url)| match url.split_once('=') {
            Some((index, rest)) if !index.contains([':', '/']) => (name, rest.to_owned()),
            _ => (name, url),
        })
        .or_else(|| {
            pip_files().into_iter().find_map(|file| {
                let index = index_in_pip_file(&fs::read_to_string(&file).ok()?)?;
                Some((format!("index-url in {}", file.display()), index))
            })
        })
}

fn pip_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = path_variable("PIP_CONFIG_FILE").into_iter().collect();
    if let Some(environment) = path_variable("VIRTUAL_ENV") {
        files.push(environment.join("pip.conf"));
    }
    if let Ok(user) = etcetera::choose_base_strategy() {
        files.push(user.config_dir().join("pip/pip.conf"));
        files.push(user.home_dir().join(".pip/pip.conf"));
    }
    files.push(PathBuf::from("/etc/xdg/pip/pip.conf"));
    files.push(PathBuf::from("/etc/pip.conf"));
    files
}

/// `index-url` of the sections that pip reads when it installs or downloads.
fn index_in_pip_file(text: &str) -> Option<String> {
    let mut applies = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            applies = ["global", "install", "download"].contains(&section.trim());
        } else if let Some((key, value)) = line.split_once(['=', ':']) {
            let key = key.trim().replace('_', "-");
            if applies && key == "index-url" && !value.trim().is_empty() {
                return Some(value.trim().to_owned());
            }
        }
    }
    None
}

/// Python's package folders: the active environment's, the user's, the system's.
fn site_packages() -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE"]
        .into_iter()
        .filter_map(path_variable)
        .collect();
    prefixes.extend(etcetera::home_dir().ok().map(|home| home.join(".local")));
    prefixes.extend([PathBuf::from("/usr/local"), PathBuf::from("/usr")]);
    prefixes.iter().flat_map(|prefix| packages_under(prefix)).collect()
}

fn packages_under(prefix: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["lib", "lib64"].map(|l| prefix.join(l)) {
        let Ok(entries) = fs::read_dir(&lib) else {
            continue;
        };
        let mut pythons: Vec<PathBuf> = entries
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("python3")))
            .collect();
        // A folder is read in no order; the answer must not depend on it.
        pythons.sort();
        for python in pythons {
            let folders = ["site-packages", "dist-packages"].map(|d| python.join(d));
            found.extend(folders.into_iter().filter(|f| f.is_dir()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_file_gives_the_index_of_the_sections_that_count() {
        let text = "[list]\nindex-url = https://wrong.example/simple\n\n[global]\n# a comment\n\
                    timeout = 60\nindex_url: https://mirror.example/simple/\n";
        assert_eq!(index_in_pip_file(text).as_deref(), Some("https://mirror.example/simple/"));
        assert_eq!(index_in_pip_file("[global]\ncert = /etc/ca.pem\n"), None);
    }

    #[test]
    fn packages_are_found_under_any_python_version() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("lib/python3.11/site-packages");
        fs::create_dir_all(&wanted).unwrap();
        fs::create_dir_all(folder.path().join("lib/python2.7/site-packages")).unwrap();
        assert_eq!(packages_under(folder.path()), [wanted]);
    }
}
