//! Each failure that a person can meet: its code, what its message tells, and what is left behind.

use std::fs;

use xla_build::manifest::Purpose;
use xla_build::{Code, Error, Finder, Platform, Silent};

use crate::elf::Elf;
use crate::server::Page;
use crate::setup::{LIBRARY, Setup, WHEEL, sha256, wheel};

fn check(error: &Error, code: Code, told: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    let text = error.to_string();
    for word in told {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

fn fails(setup: &Setup, finder: &Finder, code: Code, told: &[&str]) {
    let error = finder.install(Platform::Cpu, &mut Silent).unwrap_err();
    check(&error, code, told);
    assert!(setup.plugins().is_empty(), "left behind: {:?}", setup.plugins());
    assert_eq!(finder.find(Platform::Cpu).unwrap(), None);
}

#[test]
fn offline_names_the_file_its_hash_and_where_to_put_it() {
    let setup = Setup::new();
    let path = setup.by_hand().display().to_string();
    let told = [WHEEL, &path, &sha256(&setup.wheel), "HTTPS_PROXY", "SSL_CERT_FILE"];
    fails(&setup, &setup.offline(), Code::Offline, &told);
}

#[test]
fn another_file_of_the_same_length_is_deleted_and_reported() {
    let setup = Setup::new();
    let server = setup.server();
    let mut other = setup.wheel.clone();
    other[1000] ^= 1;
    server.change(|c| c.body = other.clone());
    let told = [sha256(&setup.wheel), sha256(&other)];
    fails(&setup, &setup.finder(&server), Code::WrongHash, &[&told[0], &told[1], "deleted"]);
    assert!(!setup.part().exists());

    server.change(|c| c.body = setup.wheel.clone());
    setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
}

#[test]
fn a_file_of_another_length_is_refused_before_it_is_downloaded() {
    let setup = Setup::new();
    let server = setup.server();
    let (right, short) = (setup.wheel.len().to_string(), setup.wheel.len() - 5);
    server.change(|c| c.body.truncate(short));
    let finder = setup.finder(&server);
    fails(&setup, &finder, Code::Truncated, &[&right, &short.to_string()]);
    server.change(|c| c.body = vec![0; 400_000]);
    fails(&setup, &finder, Code::WrongHash, &[&right, "400000"]);
    assert_eq!(fs::metadata(setup.part()).unwrap().len(), 0);
}

#[test]
fn a_connection_that_never_gets_further_is_reported_and_its_bytes_are_kept() {
    let setup = Setup::new();
    let server = setup.server();
    server.change(|c| c.cuts = vec![1000, 0, 0, 0]);
    let total = setup.wheel.len().to_string();
    let told = ["1000 of", &total, "resume"];
    fails(&setup, &setup.finder(&server), Code::Truncated, &told);
    assert_eq!(server.downloads().len(), 4, "three times nothing came");
    assert_eq!(fs::read(setup.part()).unwrap(), setup.wheel[..1000]);
}

#[test]
fn the_index_may_lack_the_file_or_refuse() {
    let setup = Setup::new();
    let server = setup.server();
    let finder = setup.finder(&server);
    let path = setup.by_hand().display().to_string();
    server.change(|c| c.name = "tiny_pjrt-2.0-py3-none-any.whl".to_owned());
    let page = server.url("/simple/tiny-pjrt/");
    fails(&setup, &finder, Code::NotInIndex, &[WHEEL, &page, &path]);
    for (status, advice) in [(404, "pip and uv"), (401, "credentials"), (503, "later")] {
        server.change(|c| c.page = Page::Status(status));
        fails(&setup, &finder, Code::Http, &[&status.to_string(), &page, advice, &path]);
    }
    let asked = server.log().len();
    fails(&setup, &finder, Code::Http, &["503 3 times"]);
    assert_eq!(server.log().len(), asked + 3);
    server.change(|c| c.page = Page::Status(404));
    fails(&setup, &finder, Code::Http, &["404, expected"]);
    assert_eq!(server.log().len(), asked + 4, "what will not pass is asked for once");
}

#[test]
fn a_password_is_never_shown() {
    let setup = Setup::new();
    let mut settings = setup.offline().settings().clone();
    settings.index = settings.index.map(|i| i.replace("http://", "http://me:secret@"));
    let error = Finder::new(settings).install(Platform::Cpu, &mut Silent).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_wrong_file_put_there_by_hand_is_reported_and_left_alone() {
    let setup = Setup::new();
    let path = setup.by_hand();
    setup.put(&path, &setup.wheel[..99]);
    let shown = path.display().to_string();
    fails(&setup, &setup.offline(), Code::Truncated, &[&shown, "99"]);
    setup.put(&path, &vec![0; setup.wheel.len()]);
    fails(&setup, &setup.offline(), Code::WrongHash, &[&shown]);
    assert!(path.exists());
}

#[test]
fn a_cache_folder_that_cannot_be_written() {
    let setup = Setup::new();
    let server = setup.server();
    let file = setup.folder.path().join("file");
    fs::write(&file, "").unwrap();
    // Tests may run as root, whom permissions do not stop.
    for cache in [file.join("cache"), "/proc/no/cache".into()] {
        let mut settings = setup.finder(&server).settings().clone();
        settings.cache = cache.clone();
        let error = Finder::new(settings).install(Platform::Cpu, &mut Silent).unwrap_err();
        check(&error, Code::CacheUnwritable, &[cache.to_str().unwrap(), "RECTIFLOW_CACHE"]);
    }
    assert!(server.log().is_empty(), "found out before anything is downloaded");
}

#[test]
#[cfg(unix)]
fn what_is_in_the_way_of_the_folder_is_named_and_left_alone() {
    let setup = Setup::new();
    let server = setup.server();
    let finder = setup.finder(&server);
    let target = setup.settings.cache.join("plugins/tiny-pjrt-1.0-any");
    let shown = target.display().to_string();
    let refused = |what: &str| {
        let error = finder.install(Platform::Cpu, &mut Silent).unwrap_err();
        check(&error, Code::CacheUnwritable, &[&shown, "in the way", what, "move it away"]);
        assert!(!error.to_string().contains("RECTIFLOW_CACHE"), "{error}");
        fs::remove_file(&target).expect("it is still there");
    };
    let link = |to: &std::path::Path| std::os::unix::fs::symlink(to, &target).unwrap();
    setup.put(&target, b"mine");
    refused("found a file");
    link(std::path::Path::new("nowhere"));
    refused("found a symbolic link to nowhere, which does not exist");
    let file = setup.folder.path().join("file");
    setup.put(&file, b"mine");
    link(&file);
    refused("found a symbolic link to");
    assert!(server.log().is_empty(), "found out before anything is downloaded");

    let elsewhere = setup.folder.path().join("elsewhere");
    setup.put(&elsewhere.join("mine"), b"");
    link(&elsewhere);
    finder.install(Platform::Cpu, &mut Silent).unwrap();
    assert!(elsewhere.join("mine").exists(), "a link to a folder is replaced, not followed");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk() {
    let setup = Setup::new();
    let server = setup.server();
    fs::create_dir_all(setup.part().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", setup.part()).unwrap();
    fails(&setup, &setup.finder(&server), Code::NoSpace, &["RECTIFLOW_CACHE"]);
}

#[test]
fn libraries_that_cannot_run_here_are_not_installed() {
    let cases = [
        (Elf::plugin().for_aarch64(), Code::WrongArchitecture, ["aarch64-linux", "x86_64-linux"]),
        (Elf::plugin().needing("GLIBC_2.38"), Code::GlibcTooOld, ["needs glibc 2.38", "2.31"]),
        (Elf::plugin().exporting("GetOther"), Code::NotAPlugin, ["GetPjrtApi", "plugin.so"]),
    ];
    for (library, code, told) in cases {
        let setup = Setup::with_library(&library.bytes());
        let server = setup.server();
        fails(&setup, &setup.finder(&server), code, &told);
    }
    let setup = Setup::with_library(b"a text file");
    fails(&setup, &setup.finder(&setup.server()), Code::NotAPlugin, &["not a shared library"]);
}

#[test]
fn wheels_that_are_none() {
    let setup = Setup::with_wheel(b"no archive".to_vec());
    fails(&setup, &setup.finder(&setup.server()), Code::BadArchive, &[WHEEL]);
    let setup = Setup::with_wheel(wheel(&[("tiny_pjrt/other.so", b"")]));
    fails(&setup, &setup.finder(&setup.server()), Code::BadArchive, &[LIBRARY]);
}

#[test]
fn a_wheel_writes_nowhere_but_into_its_folder() {
    let library = Elf::plugin().bytes();
    let setup = Setup::with_wheel(wheel(&[
        (LIBRARY, &library),
        ("../../../../LICENSE", b"escaped"),
        ("/tmp/xla-build-LICENSE", b"escaped"),
    ]));
    let server = setup.server();
    let path = setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
    let licences = fs::read_dir(path.with_file_name("licences")).unwrap();
    let names: Vec<_> = licences.map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|n| n == "LICENSE"), "{names:?}");
    assert!(!setup.folder.path().join("LICENSE").exists());
    assert!(!std::path::Path::new("/tmp/xla-build-LICENSE").exists());
}

#[test]
fn other_platforms_are_installed_only_when_asked_for() {
    let mut setup = Setup::new();
    setup.settings.manifest[0].purpose = Purpose::Plugin(Platform::Tpu);
    let server = setup.server();
    let finder = setup.finder(&server);
    let error = finder.find_or_install(Platform::Tpu, &mut Silent).unwrap_err();
    check(&error, Code::NotInstalled, &["xla-build install tpu", "TPU_LIBRARY_PATH"]);
    assert!(server.log().is_empty());
    finder.install(Platform::Tpu, &mut Silent).unwrap();
    finder.find_or_install(Platform::Tpu, &mut Silent).unwrap();
}

#[test]
fn nothing_pinned_for_this_machine() {
    let mut setup = Setup::new();
    setup.settings.machine = None;
    setup.settings.manifest[0].machine = xla_build::Machine::X86_64Linux;
    let error = setup.offline().find_or_install(Platform::Cpu, &mut Silent).unwrap_err();
    check(&error, Code::Unsupported, &["cpu plugin", "PJRT_PLUGIN_LIBRARY_PATH"]);
}
