//! Which of several plugins is taken.

use std::path::PathBuf;

use xla_build::manifest::Purpose;
use xla_build::{Code, Finder, Origin, Platform, Silent};

use crate::elf::Elf;
use crate::setup::Setup;

fn place(setup: &Setup, name: &str) -> PathBuf {
    let path = setup.folder.path().join(name);
    setup.put(&path, &Elf::plugin().bytes());
    path
}

fn origin(finder: &Finder, platform: Platform) -> Option<Origin> {
    finder.find(platform).unwrap().map(|found| found.origin)
}

#[test]
fn explicit_then_variable_then_cache_then_python() {
    let mut setup = Setup::new();
    setup.put(&setup.by_hand(), &setup.wheel);
    place(&setup, "site/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so");
    let variable = place(&setup, "from_variable.so");
    let explicit = place(&setup, "explicit.so");

    assert_eq!(origin(&setup.offline(), Platform::Cpu), None);
    setup.settings.site_packages = vec![setup.folder.path().join("site")];
    assert_eq!(origin(&setup.offline(), Platform::Cpu), Some(Origin::Python));
    setup.offline().install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(origin(&setup.offline(), Platform::Cpu), Some(Origin::Cache));
    setup.settings.plugin_path = Some(variable.clone());
    let found = setup.offline().find(Platform::Cpu).unwrap().unwrap();
    assert_eq!(found.origin, Origin::Variable("PJRT_PLUGIN_LIBRARY_PATH"));
    assert_eq!(found.path, variable);
    let found = setup.offline().explicit(&explicit).find(Platform::Cpu).unwrap().unwrap();
    assert_eq!((found.path, found.origin), (explicit, Origin::Explicit));
}

/// The loader looks for a bare name in other places than this folder.
#[test]
fn a_named_path_is_made_absolute() {
    let setup = Setup::new();
    let bytes = Elf::plugin().bytes();
    let here = tempfile::NamedTempFile::new_in(".").unwrap();
    std::fs::write(here.path(), bytes).unwrap();
    let name = here.path().file_name().unwrap();
    let found = setup.offline().explicit(name).find(Platform::Cpu).unwrap().unwrap();
    assert_eq!(found.path, std::env::current_dir().unwrap().join(name));
}

#[test]
fn the_tpu_variable_is_for_the_tpu_and_goes_first() {
    let mut setup = Setup::new();
    setup.settings.manifest[0].purpose = Purpose::Plugin(Platform::Tpu);
    setup.settings.tpu_path = Some(place(&setup, "libtpu.so"));
    setup.settings.plugin_path = Some(place(&setup, "any.so"));
    let tpu = origin(&setup.offline(), Platform::Tpu);
    assert_eq!(tpu, Some(Origin::Variable("TPU_LIBRARY_PATH")));
    let cpu = origin(&setup.offline(), Platform::Cpu);
    assert_eq!(cpu, Some(Origin::Variable("PJRT_PLUGIN_LIBRARY_PATH")));
    setup.settings.plugin_path = Some(place(&setup, "xla_cuda_plugin.so"));
    assert_eq!(origin(&setup.offline(), Platform::Cpu), None);
}

#[test]
fn each_platform_is_found_in_its_python_package() {
    let mut setup = Setup::new();
    setup.settings.site_packages = vec![setup.folder.path().join("site")];
    for (platform, library) in [
        (Platform::Cpu, "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
        (Platform::Tpu, "libtpu/libtpu.so"),
        (Platform::Cuda12, "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
        (Platform::Cuda13, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
    ] {
        assert_eq!(origin(&setup.offline(), platform), None, "{platform}");
        let path = place(&setup, &format!("site/{library}"));
        assert_eq!(setup.offline().find(platform).unwrap().unwrap().path, path);
    }
}

#[test]
fn a_named_file_must_do_and_an_unnamed_one_is_passed_over() {
    let mut setup = Setup::new();
    let site = setup.folder.path().join("site");
    let library = Elf::plugin().for_aarch64().bytes();
    let foreign = site.join("lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so");
    setup.put(&foreign, &library);
    setup.settings.site_packages = vec![site];
    assert_eq!(origin(&setup.offline(), Platform::Cpu), None);

    setup.settings.plugin_path = Some(foreign);
    let error = setup.offline().find(Platform::Cpu).unwrap_err();
    assert_eq!(error.code(), Code::WrongArchitecture);
    assert!(error.to_string().contains("PJRT_PLUGIN_LIBRARY_PATH"), "{error}");

    setup.settings.plugin_path = Some(setup.folder.path().join("missing.so"));
    // Also by the call that would install: a wrong setting is not silently replaced.
    let error = setup.offline().find_or_install(Platform::Cpu, &mut Silent).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let text = error.to_string();
    assert!(text.contains("PJRT_PLUGIN_LIBRARY_PATH") && text.contains("missing.so"), "{text}");
}
