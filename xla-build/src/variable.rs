//! The variables that name a plugin's path.

use std::path::Path;

use crate::find::Finder;
use crate::platform::Platform;

/// For every platform.
const ANY: &str = "PJRT_PLUGIN_LIBRARY_PATH";
/// For the TPU, before the other.
const TPU: &str = "TPU_LIBRARY_PATH";

impl Finder {
    /// The path variable that applies; of two, the more specific one.
    pub(crate) fn variable(&self, platform: Platform) -> Option<(&'static str, &Path)> {
        let any = self.settings().plugin_path.as_deref().filter(|p| !is_for_another(p, platform));
        self.tpu_path(platform).map(|p| (TPU, p)).or(any.map(|p| (ANY, p)))
    }

    /// The path variable that is set but does not apply to a platform, and why; `None` when
    /// there is none.
    pub fn passed_over(&self, platform: Platform) -> Option<String> {
        let path = self.settings().plugin_path.as_deref()?;
        let why = if self.tpu_path(platform).is_some() {
            format!("{TPU} goes before it")
        } else if let Some(word) = platform_in_name(path).filter(|_| is_for_another(path, platform))
        {
            format!("the file's name says that it is for {word}")
        } else {
            return None;
        };
        Some(format!("{ANY} ({}): {why}", path.display()))
    }

    fn tpu_path(&self, platform: Platform) -> Option<&Path> {
        self.settings().tpu_path.as_deref().filter(|_| platform == Platform::Tpu)
    }
}

/// The path is one variable for every platform. Where the file's name tells which one it is for,
/// it is not taken for another; a name that tells nothing is taken for all.
fn is_for_another(path: &Path, platform: Platform) -> bool {
    platform_in_name(path).is_some_and(|word| !platform.to_string().starts_with(word))
}

fn platform_in_name(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words = words.map(|word| word.strip_prefix("lib").unwrap_or(word));
    let platforms = ["tpu", "cuda", "cpu"];
    // The versions of cuda are part of the word.
    let mut said = words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    said.find_map(|word| platforms.into_iter().find(|p| *p == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telling_name_is_for_one_platform_only() {
        let other = |name: &str, platform| is_for_another(Path::new(name), platform);
        assert!(!other("/opt/pjrt_c_api_cpu_plugin.so", Platform::Cpu));
        assert!(other("/opt/pjrt_c_api_cpu_plugin.so", Platform::Tpu));
        assert!(other("/opt/libtpu.so", Platform::Cpu));
        assert!(!other("/opt/xla_cuda_plugin.so", Platform::Cuda13));
        assert!(!other("/tpu/plugin.so", Platform::Cpu), "the folder's name tells nothing");
        assert!(!other("/opt/my_output.so", Platform::Cpu), "a part of a word tells nothing");
        assert!(other("/opt/xla_cuda12_plugin.so", Platform::Tpu));
    }
}
