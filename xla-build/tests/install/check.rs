//! What is installed can be checked again, and damage is noticed.

use std::fs;

use xla_build::{Code, Finder, Glibc, Machine, Platform, Silent, check_plugin};

use crate::elf::Elf;
use crate::setup::Setup;

fn installed(setup: &Setup) -> (Finder, std::path::PathBuf) {
    setup.put(&setup.by_hand(), &setup.wheel);
    let finder = setup.offline();
    let path = finder.install(Platform::Cpu, &mut Silent).unwrap();
    (finder, path)
}

#[test]
fn verify_compares_with_what_was_installed() {
    let setup = Setup::new();
    let row = setup.settings.manifest[0];
    assert_eq!(setup.offline().verify(&row).unwrap(), None);
    let (finder, path) = installed(&setup);
    assert_eq!(finder.verify(&row).unwrap().unwrap().path, path);

    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(finder.verify(&row).unwrap_err().code(), Code::Damaged);
    fs::remove_file(&path).unwrap();
    assert_eq!(finder.verify(&row).unwrap_err().code(), Code::Damaged);
}

#[test]
fn a_library_of_another_length_is_installed_again() {
    let setup = Setup::new();
    let (finder, path) = installed(&setup);
    fs::write(&path, "cut").unwrap();
    assert_eq!(finder.find(Platform::Cpu).unwrap(), None);
    assert_eq!(finder.find_or_install(Platform::Cpu, &mut Silent).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), Elf::plugin().bytes());
}

/// Damage that keeps the length shows where the file is looked at.
#[test]
fn a_library_that_is_none_any_more_is_installed_again() {
    let setup = Setup::new();
    let (finder, path) = installed(&setup);
    let whole = fs::read(&path).unwrap();
    let zeros = vec![0; whole.len()];
    fs::write(&path, &zeros).unwrap();
    let error = finder.find(Platform::Cpu).unwrap_err();
    assert_eq!(error.code(), Code::NotAPlugin);
    assert!(error.to_string().contains("xla-build install cpu"), "{error}");
    assert_eq!(finder.find_or_install(Platform::Cpu, &mut Silent).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), whole);

    // One changed byte, of which only the digest tells.
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, changed).unwrap();
    assert_eq!(finder.install(Platform::Cpu, &mut Silent).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_note_that_leads_elsewhere_is_not_believed() {
    let setup = Setup::new();
    let (finder, path) = installed(&setup);
    let note = path.parent().unwrap().join("installed.json");
    let text = fs::read_to_string(&note).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let elsewhere = setup.folder.path().join("evil.so");
    setup.put(&elsewhere, &Elf::plugin().bytes());
    for other in [elsewhere.to_str().unwrap(), "../evil.so", "licences"] {
        let mut changed = text.replace(name, other);
        if other == "licences" {
            let digest = finder.installed(&setup.settings.manifest[0]).map(|i| i.sha256);
            changed = changed.replace(&digest.unwrap_or_default(), "");
        }
        fs::write(&note, changed).unwrap();
        assert_eq!(finder.find(Platform::Cpu).unwrap(), None, "{other}");
        fs::write(&note, &text).unwrap();
    }
}

#[test]
fn another_pin_is_another_installation() {
    let setup = Setup::new();
    let (finder, _) = installed(&setup);
    let mut settings = finder.settings().clone();
    settings.manifest[0].sha256 =
        "0000000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(Finder::new(settings).find(Platform::Cpu).unwrap(), None);
}

#[test]
fn a_cached_plugin_that_an_older_system_cannot_load_is_refused() {
    let setup = Setup::with_library(&Elf::plugin().needing("GLIBC_2.30").bytes());
    let (finder, _) = installed(&setup);
    let mut settings = finder.settings().clone();
    settings.glibc = Some(Glibc { major: 2, minor: 28 });
    let error = Finder::new(settings).find(Platform::Cpu).unwrap_err();
    assert_eq!(error.code(), Code::GlibcTooOld);
}

#[test]
fn needs_that_do_not_bind_are_no_reason_to_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let check = |elf: Elf, glibc: Option<Glibc>| {
        let path = folder.path().join("plugin.so");
        fs::write(&path, elf.bytes()).unwrap();
        check_plugin(&path, Some(Machine::X86_64Linux), glibc)
    };
    let old = Some(Glibc { major: 2, minor: 28 });
    let new = || Elf::plugin().needing("GLIBC_2.38");
    assert_eq!(check(new(), old).unwrap_err().code(), Code::GlibcTooOld);
    check(new().weakly(), old).unwrap();
    check(new(), None).unwrap();
    check(Elf::plugin().needing("GLIBC_2.28"), old).unwrap();
}

/// The hand-written libraries could be wrong in the same way as the code that reads them.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_real_program_is_read_too() {
    let program = std::env::current_exe().unwrap();
    let error = check_plugin(&program, Machine::host(), Glibc::running()).unwrap_err();
    assert_eq!(error.code(), Code::NotAPlugin, "{error}");
    let ancient = Some(Glibc { major: 2, minor: 0 });
    let error = check_plugin(&program, Machine::host(), ancient).unwrap_err();
    assert_eq!(error.code(), Code::GlibcTooOld, "{error}");
}
