//! From the index to a verified file, with and without interruptions.

use std::fs;

use xla_build::{Code, Platform, Proxy, Silent};

use crate::elf::Elf;
use crate::server::{Fault, Page};
use crate::setup::{Recorder, Setup, WHEEL};

#[test]
fn first_use_installs_and_the_second_asks_nobody() {
    let setup = Setup::new();
    let server = setup.server();
    let finder = setup.finder(&server);
    let path = finder.find_or_install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(fs::read(&path).unwrap(), Elf::plugin().bytes());
    assert_eq!(server.log(), ["/simple/tiny-pjrt/".to_owned(), format!("/files/{WHEEL}")]);
    let licence = "licences/tiny_pjrt-1.0.dist-info/LICENSE";
    assert_eq!(fs::read(path.with_file_name(licence)).unwrap(), b"do as you like");
    assert!(!path.with_file_name("noise").exists(), "only what was pinned is kept");
    assert!(!setup.part().exists(), "the wheel is not kept");

    assert_eq!(finder.find_or_install(Platform::Cpu, &mut Silent).unwrap(), path);
    assert_eq!(finder.install(Platform::Cpu, &mut Silent).unwrap(), path);
    assert_eq!(server.log().len(), 2);
}

#[test]
fn html_pages_and_relative_links_are_understood() {
    for page in [Page::Json, Page::Html] {
        for link in [format!("../../files/{WHEEL}"), format!("/files/{WHEEL}")] {
            let setup = Setup::new();
            let server = setup.server();
            server.change(|c| (c.page, c.link) = (page, link.clone()));
            setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
            assert_eq!(server.downloads().len(), 1, "{link}");
        }
    }
}

#[test]
fn credentials_in_the_index_address_are_sent_to_its_host() {
    let setup = Setup::new();
    let server = setup.server();
    let mut settings = setup.settings.clone();
    settings.index = Some(server.url("/simple").replace("http://", "http://me:secret@"));
    xla_build::Finder::new(settings).install(Platform::Cpu, &mut Silent).unwrap();
    let log = server.log();
    // "me:secret" in base64.
    assert!(log.len() == 2 && log.iter().all(|l| l.ends_with(" Basic bWU6c2VjcmV0")), "{log:?}");
}

#[test]
fn requests_go_through_the_proxy() {
    let setup = Setup::new();
    let server = setup.server();
    let mut settings = setup.settings.clone();
    settings.index = Some("http://index.invalid/simple".to_owned());
    settings.proxy = Proxy::Url(server.url(""));
    xla_build::Finder::new(settings).install(Platform::Cpu, &mut Silent).unwrap();
    let log = server.log();
    assert!(log.iter().any(|l| l.contains("index.invalid")), "{log:?}");
}

#[test]
fn a_cut_connection_is_taken_up_where_it_broke() {
    let setup = Setup::new();
    let server = setup.server();
    server.change(|c| c.cuts = vec![100_000]);
    let mut progress = Recorder::default();
    setup.finder(&server).install(Platform::Cpu, &mut progress).unwrap();
    assert_eq!(server.downloads(), [format!("/files/{WHEEL}"), format!("/files/{WHEEL} 100000")]);
    let total = setup.wheel.len() as u64;
    assert_eq!(progress.downloads, [(total, 0), (total, 100_000)]);
    assert_eq!(progress.advanced, total, "every byte is counted once");
}

#[test]
fn failures_that_pass_are_waited_for() {
    let setup = Setup::new();
    setup.put(&setup.part(), &setup.wheel[..70_000]);
    let server = setup.server();
    let faults = [
        // The index page, then the file.
        [Fault::Status(503), Fault::Reset, Fault::No],
        [Fault::Reset, Fault::Status(500), Fault::No],
    ];
    server.change(|c| c.faults = faults.concat());
    setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
    let (page, file) = ("/simple/tiny-pjrt/", format!("/files/{WHEEL} 70000"));
    assert_eq!(server.log(), [page, "reset", page, "reset", &file, &file]);
}

#[test]
fn resets_are_not_waited_for_without_end() {
    let setup = Setup::new();
    let server = setup.server();
    server.change(|c| c.faults = vec![Fault::Reset; 9]);
    let error = setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap_err();
    assert_eq!(error.code(), Code::Offline, "{error}");
    assert_eq!(server.log(), ["reset"; 3]);
}

#[test]
fn a_later_run_resumes_an_unfinished_download() {
    let setup = Setup::new();
    setup.put(&setup.part(), &setup.wheel[..70_000]);
    let server = setup.server();
    setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(server.downloads(), [format!("/files/{WHEEL} 70000")]);
}

#[test]
fn a_server_without_ranges_starts_over() {
    let setup = Setup::new();
    setup.put(&setup.part(), &setup.wheel[..70_000]);
    let server = setup.server();
    server.change(|c| c.ranges = false);
    let mut progress = Recorder::default();
    setup.finder(&server).install(Platform::Cpu, &mut progress).unwrap();
    assert_eq!(server.downloads(), [format!("/files/{WHEEL} 70000")]);
    assert_eq!(progress.downloads, [(setup.wheel.len() as u64, 0)]);
}

#[test]
fn a_complete_download_is_not_repeated_and_a_too_long_one_is_dropped() {
    let setup = Setup::new();
    setup.put(&setup.part(), &setup.wheel);
    setup.offline().install(Platform::Cpu, &mut Silent).unwrap();

    let setup = Setup::new();
    setup.put(&setup.part(), &[setup.wheel.as_slice(), b"more"].concat());
    let server = setup.server();
    setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(server.downloads(), [format!("/files/{WHEEL}")]);
}

#[test]
fn a_file_put_there_by_hand_needs_no_network_and_stays() {
    let setup = Setup::new();
    setup.put(&setup.by_hand(), &setup.wheel);
    setup.offline().install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(fs::read(setup.by_hand()).unwrap(), setup.wheel);
}
