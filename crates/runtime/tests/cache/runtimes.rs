//! Devices by name, and plugins loaded on first use.

use rectiflow_runtime::{CacheOptions, Code, DeviceName, Runtime, RuntimeOptions};

use crate::programs::{get, runtime};

#[test]
fn names_of_devices() {
    for (text, device) in [
        ("cpu", DeviceName::Cpu),
        ("tpu", DeviceName::Tpu),
        ("cuda", DeviceName::Cuda),
        ("/opt/plugin", DeviceName::Plugin("/opt/plugin".into())),
        ("plugin.so", DeviceName::Plugin("plugin.so".into())),
    ] {
        assert_eq!(text.parse::<DeviceName>().unwrap(), device);
        assert_eq!(device.to_string(), text);
    }
    let error = "gpu".parse::<DeviceName>().unwrap_err();
    assert_eq!(error.code(), Code::UnknownDevice);
    assert!(error.to_string().contains("`gpu`; expected cpu, tpu, cuda, or the path"), "{error}");
}

#[test]
fn the_plugin_is_loaded_on_first_use() {
    let runtime = runtime(CacheOptions::default());
    assert!(!runtime.is_loaded());
    get(&runtime, 1).unwrap();
    assert!(runtime.is_loaded());
}

#[test]
fn without_autoload_it_is_loaded_when_asked() {
    let runtime =
        Runtime::new(&RuntimeOptions { autoload: false, ..RuntimeOptions::default() }).unwrap();
    let error = get(&runtime, 1).unwrap_err();
    assert_eq!(error.code(), Code::AutoloadOff);
    assert!(error.to_string().contains("call Runtime::load first"), "{error}");
    assert!(!runtime.is_loaded());
    runtime.load().unwrap();
    get(&runtime, 1).unwrap();
}

#[test]
fn devices_say_what_they_are() {
    let options = RuntimeOptions { device_count: Some(3), ..RuntimeOptions::default() };
    let devices = Runtime::new(&options).unwrap().devices().unwrap();
    assert_eq!(devices.len(), 3);
    assert!(devices.iter().all(|device| device.kind == "cpu" && device.is_addressable));
    let kinds = &devices[0].memory_kinds;
    assert!(kinds.len() > 1 && kinds.contains(&"pinned_host".to_owned()), "{kinds:?}");
}

#[test]
fn runtimes_live_side_by_side() {
    let [two, three] = [2, 3].map(|n| {
        Runtime::new(&RuntimeOptions { device_count: Some(n), ..RuntimeOptions::default() })
            .unwrap()
    });
    get(&two, 1).unwrap();
    assert_eq!((two.devices().unwrap().len(), three.devices().unwrap().len()), (2, 3));
    assert_eq!((two.stats().compiles, three.stats().compiles), (1, 0));
}

#[test]
fn what_cannot_be_loaded_is_an_error_that_says_so() {
    let device = DeviceName::Plugin("/nonexistent/plugin.so".into());
    let runtime = Runtime::new(&RuntimeOptions { device, ..RuntimeOptions::default() }).unwrap();
    let error = runtime.client().unwrap_err();
    assert_eq!(error.code(), Code::Plugin);
    assert!(error.to_string().contains("/nonexistent/plugin.so"), "{error}");

    let options =
        RuntimeOptions { device: DeviceName::Tpu, device_count: Some(2), ..Default::default() };
    assert_eq!(Runtime::new(&options).unwrap_err().code(), Code::Options);
    let options = RuntimeOptions { device_count: Some(0), ..Default::default() };
    assert_eq!(Runtime::new(&options).unwrap_err().code(), Code::Options);
}

#[test]
fn the_environment_names_the_folder_and_turns_autoload_off() {
    let with = |cache: &str, autoload: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["runtimes::environment", "--exact", "--ignored", "--nocapture"])
            .envs([("RECTIFLOW_CACHE", cache), ("RECTIFLOW_AUTOLOAD", autoload)])
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (on, off) = (with("/some/folder", "1"), with("/some/folder", "0"));
    assert!(on.contains("OPTIONS true Some(\"/some/folder/executables\")"), "{on}");
    assert!(off.contains("OPTIONS false Some"), "{off}");
    let wrong = with("/some/folder", "no");
    assert!(wrong.contains("RECTIFLOW_AUTOLOAD is `no`; expected 0 or 1"), "{wrong}");
}

#[test]
#[ignore = "the test above runs it"]
fn environment() {
    match RuntimeOptions::from_env(DeviceName::Cpu) {
        Ok(options) => println!("OPTIONS {} {:?}", options.autoload, options.cache.folder),
        Err(error) => println!("{error}"),
    }
}
