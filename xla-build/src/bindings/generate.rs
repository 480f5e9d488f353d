//! Runs bindgen over the pinned headers with settings that make its output depend on nothing else.
//!
//! The target is fixed, system headers are replaced by four small stand-ins, and the order of the
//! includes is the table below, so two machines write the same bytes.

use std::fs;
use std::path::Path;

use crate::error::{Code, Error, Result};
use crate::staging;

/// Every header of the PJRT C API and its extensions that is plain C, then the XLA FFI C API.
///
/// They are parsed as C++, which some of them need. Left out because their declarations mention
/// C++ types: `cross_host_transfers`, and the `*_internal.h` and `*_impl.h` headers.
const HEADERS: &[&str] = &[
    "xla/pjrt/c/pjrt_c_api.h",
    "xla/pjrt/c/pjrt_c_api_abi_version_extension.h",
    "xla/pjrt/c/pjrt_c_api_callback_extension.h",
    "xla/pjrt/c/pjrt_c_api_custom_partitioner_extension.h",
    "xla/pjrt/c/pjrt_c_api_device_event.h",
    "xla/pjrt/c/pjrt_c_api_ffi_extension.h",
    "xla/pjrt/c/pjrt_c_api_gpu_extension.h",
    "xla/pjrt/c/pjrt_c_api_layouts_extension.h",
    "xla/pjrt/c/pjrt_c_api_memory_descriptions_extension.h",
    "xla/pjrt/c/pjrt_c_api_multi_slice_extension.h",
    "xla/pjrt/c/pjrt_c_api_phase_compile_extension.h",
    "xla/pjrt/c/pjrt_c_api_profiler_extension.h",
    "xla/pjrt/c/pjrt_c_api_raw_buffer_extension.h",
    "xla/pjrt/c/pjrt_c_api_shardings_extension.h",
    "xla/pjrt/c/pjrt_c_api_stream_extension.h",
    "xla/pjrt/c/pjrt_c_api_tpu_topology_extension.h",
    "xla/pjrt/c/pjrt_c_api_xla_transform_extension.h",
    "xla/pjrt/extensions/executable_metadata/executable_metadata_extension.h",
    "xla/pjrt/extensions/host_memory_allocator/host_memory_allocator_extension.h",
    "xla/ffi/api/c_api.h",
];

const SHIMS: &[(&str, &str)] = &[
    ("assert.h", include_str!("shims/assert.h")),
    ("stdbool.h", include_str!("shims/stdbool.h")),
    ("stddef.h", include_str!("shims/stddef.h")),
    ("stdint.h", include_str!("shims/stdint.h")),
    ("cstddef", "#include <stddef.h>\n"),
    ("cstdint", "#include <stdint.h>\n"),
    // Included by a C header that uses nothing of it.
    ("xla/pjrt/pjrt_client.h", ""),
];

/// Names that do not end in `_SIZE`: the values `<struct>_STRUCT_SIZE` are anonymous enums in C,
/// and are to become plain numbers. (The regex syntax has no "not".)
const NAMED_ENUMS: &str = "(PJRT|XLA_FFI)_.*([^E]|[^Z]E|[^I]ZE|[^S]IZE|[^_]SIZE)";

/// Generates the bindings of the headers below `include`.
///
/// Named enums become structs around an integer: a newer plugin may send a value that these
/// headers do not know, which a Rust enum must not hold.
pub(super) fn run(include: &Path, scratch: &Path) -> Result<String> {
    let shims = write_shims(scratch)?;
    let all: String = HEADERS.iter().map(|h| format!("#include \"{h}\"\n")).collect();
    let target =
        bindgen::RustTarget::stable(85, 0).map_err(|e| refused(include, &e.to_string()))?;
    let bindings = bindgen::Builder::default()
        .header_contents("all_headers.h", &all)
        .clang_args(["-x", "c++", "-std=c++17", "-nostdinc", "-nostdinc++"])
        .clang_arg("--target=x86_64-unknown-linux-gnu")
        .clang_arg(format!("-I{}", shims.path().display()))
        .clang_arg(format!("-I{}", include.display()))
        .rust_target(target)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .allowlist_type("(PJRT|XLA_FFI)_.*")
        .allowlist_var("(PJRT|XLA_FFI)_.*")
        .ignore_functions()
        .default_enum_style(bindgen::EnumVariation::Consts)
        .newtype_enum(NAMED_ENUMS)
        .prepend_enum_name(false)
        .derive_default(true)
        .generate_comments(false)
        .layout_tests(false)
        .use_core()
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .generate()
        .map_err(|e| refused(include, &e.to_string()))?;
    Ok(plain_sizes(&bindings.to_string()))
}

fn refused(include: &Path, why: &str) -> Error {
    Error::new(
        Code::Bindgen,
        format!("bindgen refused the headers in {}: {why}", include.display()),
    )
}

fn write_shims(scratch: &Path) -> Result<staging::Folder> {
    let shims = staging::Folder::new(scratch, "shims")?;
    for (name, text) in SHIMS {
        let path = shims.path().join(name);
        let parent = path.parent().unwrap_or(shims.path());
        fs::create_dir_all(parent).map_err(|e| Error::write(parent, e))?;
        fs::write(&path, text).map_err(|e| Error::write(&path, e))?;
    }
    Ok(shims)
}

/// Gives the constants of anonymous enums the type `usize`, which is what `struct_size` fields
/// have, in place of an alias that is numbered through the file.
fn plain_sizes(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("pub type _bindgen_ty_"));
    kept.map(|line| match line.split_once(": _bindgen_ty_") {
        Some((name, rest)) if line.starts_with("pub const ") => {
            let value = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{name}: usize{value}\n")
        }
        _ => format!("{line}\n"),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_become_numbers_and_unions_keep_their_names() {
        let text = "pub const A_STRUCT_SIZE: _bindgen_ty_12 = 24;\n\
                    pub type _bindgen_ty_12 = ::core::ffi::c_uint;\n    \
                    pub __bindgen_anon_1: A__bindgen_ty_1,\n";
        let expected = "pub const A_STRUCT_SIZE: usize = 24;\n    \
                        pub __bindgen_anon_1: A__bindgen_ty_1,\n";
        assert_eq!(plain_sizes(text), expected);
    }
}
