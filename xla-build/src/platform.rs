//! What a plugin runs on, and what it runs under.

use std::fmt;
use std::str::FromStr;

use crate::error::{Code, Error};

/// The devices that a plugin drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    /// The processor itself.
    Cpu,
    /// Google TPUs, and compiling for them on a machine that has none.
    Tpu,
    /// NVIDIA GPUs, with CUDA 12.
    Cuda12,
    /// NVIDIA GPUs, with CUDA 13.
    Cuda13,
}

impl Platform {
    /// Every platform, in the order of the tables.
    pub const ALL: [Platform; 4] =
        [Platform::Cpu, Platform::Tpu, Platform::Cuda12, Platform::Cuda13];

    fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::Tpu => "tpu",
            Platform::Cuda12 => "cuda12",
            Platform::Cuda13 => "cuda13",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Platform {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Platform::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| {
            let message =
                format!("unknown platform `{text}`; expected one of cpu, tpu, cuda12, cuda13");
            Error::new(Code::Unsupported, message)
        })
    }
}

/// The operating system and processor that a library is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Machine {
    /// Linux on x86-64.
    X86_64Linux,
    /// Linux on 64-bit Arm.
    Aarch64Linux,
    /// Anything: headers, for one.
    Any,
}

impl Machine {
    /// The machine this was built for; `None` when nothing is pinned for its kind.
    pub fn host() -> Option<Machine> {
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => Some(Machine::X86_64Linux),
            ("linux", "aarch64") => Some(Machine::Aarch64Linux),
            _ => None,
        }
    }

    /// Whether what is made for `self` runs on `host`.
    pub(crate) fn suits(self, host: Option<Machine>) -> bool {
        self == Machine::Any || host == Some(self)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Machine::X86_64Linux => "x86_64-linux",
            Machine::Aarch64Linux => "aarch64-linux",
            Machine::Any => "any",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for platform in Platform::ALL {
            assert_eq!(platform.to_string().parse::<Platform>().unwrap(), platform);
        }
        let error = "gpu".parse::<Platform>().unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
        assert!(error.to_string().contains("cpu, tpu, cuda12, cuda13"), "{error}");
    }
}
