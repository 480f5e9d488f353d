//! The pinned files: which wheel, which file inside it, which SHA-256, which licence.
//!
//! The hash decides what is installed. A registry is only a place to ask for the bytes, so its
//! name is data here and its address is derived from it, or taken from pip's and uv's settings.

use crate::platform::{Machine, Platform};

/// What a pinned wheel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A PJRT plugin.
    Plugin(Platform),
    /// The C headers that the bindings are made from.
    Headers,
    /// The library that bindgen parses C with.
    Libclang,
}

/// One pinned wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What it is for.
    pub purpose: Purpose,
    /// Where it runs.
    pub machine: Machine,
    /// The registry that publishes it.
    pub registry: &'static str,
    /// The package's name, as an index writes it in addresses.
    pub package: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// The wheel's file name.
    pub wheel: &'static str,
    /// The wheel's length in bytes.
    pub size: u64,
    /// The wheel's SHA-256, in lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// The library inside the wheel or, for headers, the include folder.
    pub file: &'static str,
    /// The licence, as an SPDX expression or a word.
    pub licence: &'static str,
    /// The PJRT C API that it implements or declares; empty where it does not apply.
    pub pjrt_api: &'static str,
}

impl Row {
    /// The name of the folder that it is installed into, and of its lock.
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}-{}", self.package, self.version, self.machine)
    }
}

const PYPI: &str = "PyPI";

/// Everything that is pinned.
pub const ROWS: &[Row] = &[
    Row {
        purpose: Purpose::Plugin(Platform::Cpu),
        machine: Machine::X86_64Linux,
        registry: PYPI,
        package: "lammps-jax-pjrt-cpu",
        version: "0.11.2",
        wheel: "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
        size: 62_711_338,
        sha256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
        file: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
        licence: "Apache-2.0",
        pjrt_api: "0.115",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Cpu),
        machine: Machine::Aarch64Linux,
        registry: PYPI,
        package: "xla-cpu-pjrt",
        version: "0.0.1",
        wheel: "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
        size: 49_514_947,
        sha256: "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
        file: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        licence: "Apache-2.0",
        pjrt_api: "0.81",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Tpu),
        machine: Machine::X86_64Linux,
        registry: PYPI,
        package: "libtpu",
        version: "0.0.52",
        wheel: "libtpu-0.0.52-cp311-cp311-manylinux_2_31_x86_64.whl",
        size: 137_064_406,
        sha256: "f5e2e596eaea9357fbb5a6755a7a9007c6ab75bfde4a55191b03eff402971140",
        file: "libtpu/libtpu.so",
        licence: "proprietary",
        pjrt_api: "0.117",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Cuda12),
        machine: Machine::X86_64Linux,
        registry: PYPI,
        package: "jax-cuda12-pjrt",
        version: "0.12.0.1",
        wheel: "jax_cuda12_pjrt-0.12.0.1-py3-none-manylinux_2_27_x86_64.whl",
        size: 191_846_358,
        sha256: "5ec28e06198d094031c37590b4ea753ae8cde4879ab4b60baf40f0dffb673286",
        file: "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
        licence: "Apache-2.0",
        pjrt_api: "0.116",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Cuda12),
        machine: Machine::Aarch64Linux,
        registry: PYPI,
        package: "jax-cuda12-pjrt",
        version: "0.12.0.1",
        wheel: "jax_cuda12_pjrt-0.12.0.1-py3-none-manylinux_2_27_aarch64.whl",
        size: 185_765_557,
        sha256: "e6aa6c58c5420c1bda22db31a2f6c5c1d0a66cb701eeb731feae44fef197717c",
        file: "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
        licence: "Apache-2.0",
        pjrt_api: "0.116",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Cuda13),
        machine: Machine::X86_64Linux,
        registry: PYPI,
        package: "jax-cuda13-pjrt",
        version: "0.12.0.1",
        wheel: "jax_cuda13_pjrt-0.12.0.1-py3-none-manylinux_2_27_x86_64.whl",
        size: 134_922_808,
        sha256: "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
        file: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        licence: "Apache-2.0",
        pjrt_api: "0.116",
    },
    Row {
        purpose: Purpose::Plugin(Platform::Cuda13),
        machine: Machine::Aarch64Linux,
        registry: PYPI,
        package: "jax-cuda13-pjrt",
        version: "0.12.0.1",
        wheel: "jax_cuda13_pjrt-0.12.0.1-py3-none-manylinux_2_27_aarch64.whl",
        size: 128_847_710,
        sha256: "40758d042df8c06991b6a1a8016b56e9cefb1ed4c677c062125c3eb71c3dab97",
        file: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        licence: "Apache-2.0",
        pjrt_api: "0.116",
    },
    Row {
        purpose: Purpose::Headers,
        machine: Machine::Any,
        registry: PYPI,
        package: "tf-nightly",
        version: "2.23.0.dev20261026",
        wheel: "tf_nightly-2.23.0.dev20261026-cp311-cp311-manylinux_2_27_x86_64.whl",
        size: 644_791_456,
        sha256: "f9b93b8c918283634315a750a1450dcbab1715304d085ec23543959a6e451a20",
        file: "tensorflow/include",
        licence: "Apache-2.0",
        pjrt_api: "0.117",
    },
    Row {
        purpose: Purpose::Libclang,
        machine: Machine::X86_64Linux,
        registry: PYPI,
        package: "libclang",
        version: "18.1.1",
        wheel: "libclang-18.1.1-py2.py3-none-manylinux2010_x86_64.whl",
        size: 24_515_943,
        sha256: "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b",
        file: "libclang-18.1.1.data/platlib/clang/native/libclang.so",
        licence: "Apache-2.0 WITH LLVM-exception",
        pjrt_api: "",
    },
    Row {
        purpose: Purpose::Libclang,
        machine: Machine::Aarch64Linux,
        registry: PYPI,
        package: "libclang",
        version: "18.1.1",
        wheel: "libclang-18.1.1-py2.py3-none-manylinux2014_aarch64.whl",
        size: 23_784_972,
        sha256: "54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592",
        file: "libclang-18.1.1.data/platlib/clang/native/libclang.so",
        licence: "Apache-2.0 WITH LLVM-exception",
        pjrt_api: "",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What a wheel's name says must agree with the other columns, or a pin is a copying mistake.
    #[test]
    fn rows_agree_with_themselves() {
        for row in ROWS {
            let start = format!("{}-{}-", row.package.replace('-', "_"), row.version);
            assert!(row.wheel.starts_with(&start), "{} {}", row.wheel, start);
            assert!(row.wheel.ends_with(".whl"), "{}", row.wheel);
            let processor = match row.machine {
                Machine::X86_64Linux => "x86_64.whl",
                Machine::Aarch64Linux => "aarch64.whl",
                Machine::Any => ".whl",
            };
            assert!(row.wheel.ends_with(processor), "{}", row.wheel);
            let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            assert!(row.sha256.len() == 64 && row.sha256.chars().all(hexadecimal), "{row:?}");
        }
    }

    #[test]
    fn a_purpose_has_one_row_on_each_machine() {
        for machine in [Machine::X86_64Linux, Machine::Aarch64Linux] {
            let mut seen = Vec::new();
            for row in ROWS.iter().filter(|r| r.machine.suits(Some(machine))) {
                assert!(!seen.contains(&row.purpose), "{row:?}");
                seen.push(row.purpose);
            }
            assert!(seen.contains(&Purpose::Plugin(Platform::Cpu)));
        }
    }
}
