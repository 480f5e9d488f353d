//! Plugins, clients, devices, memories, topologies.

use rectiflow_pjrt::{ClientOptions, Plugin, Result, Value};

use crate::{client, if_implemented, plugin, skipped};

#[test]
fn attributes_and_stablehlo_versions() -> Result<()> {
    let attributes = plugin().attributes()?;
    assert!(attributes.iter().any(|(name, _)| name == "xla_version"), "{attributes:?}");
    let versions = plugin().stablehlo_versions()?.expect("a CPU plugin states its versions");
    assert!(versions.minimum < versions.current, "{versions:?}");
    Ok(())
}

#[test]
fn extensions_are_named() {
    let extensions = plugin().extensions();
    let ffi = extensions.iter().find(|e| e.name == Some("FFI")).expect("an FFI extension");
    assert_eq!(ffi.kind, 5);
    assert!(ffi.size >= 40);
}

#[test]
fn loading_twice_gives_the_same_library() -> Result<()> {
    let again = Plugin::load(plugin().path())?;
    assert_eq!(again.api_version(), plugin().api_version());
    // A second initialisation would be an error in some plugins; a client works.
    again.client(&ClientOptions::new())?;
    Ok(())
}

#[test]
fn device_count_is_an_option() -> Result<()> {
    let three = plugin().client(&ClientOptions::new().cpu_device_count(3))?;
    assert_eq!(three.devices()?.len(), 3);
    assert_eq!(three.addressable_devices()?.len(), 3);
    assert_eq!(three.process_index()?, 0);
    assert_eq!(three.platform_name()?, "cpu");
    assert!(!three.platform_version()?.is_empty());
    Ok(())
}

/// A plugin aborts on a negative count, and runs out of threads with a huge one.
#[test]
fn device_counts_out_of_range_are_refused() {
    for n in [-1, 4097, i64::MAX] {
        let error = plugin().client(&ClientOptions::new().cpu_device_count(n)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("option cpu_device_count is between 0 and 4096, found {n}")
        );
    }
}

#[test]
fn topologies_without_devices_are_refused() {
    let refused = |name: &str| plugin().topology(name, &[]).unwrap_err();
    let zero = "topology v6e:0x2 has an extent of 0, expected 1 or more";
    assert_eq!(refused("v6e:0x2").to_string(), zero);
    assert!(refused("v6e:2x-1").function().is_none());
    assert!(refused("v6e:99999x99999").function().is_none());
    assert!(refused("v6e:2x2").function().is_some(), "the plugin judges what can exist");
}

#[test]
fn devices_describe_themselves() -> Result<()> {
    let devices = client().devices()?;
    for (i, device) in devices.iter().enumerate() {
        let description = device.description()?;
        assert_eq!(device.id()?, i as i32);
        assert_eq!(description.id()?, i as i32);
        assert_eq!(description.process_index()?, 0);
        assert_eq!(description.kind()?, "cpu");
        assert!(description.text()?.contains(&i.to_string()), "{description:?}");
        assert!(!description.debug_text()?.is_empty());
        description.attributes()?;
        assert!(device.is_addressable()?);
        assert_eq!(device.local_hardware_id()?, i as i32);
    }
    assert_eq!(client().default_device()?, devices[0]);
    assert_ne!(devices[0], devices[1]);
    Ok(())
}

#[test]
fn memories_have_kinds() -> Result<()> {
    let device = &client().devices()?[1];
    let default = device.default_memory()?;
    assert_eq!(default.kind()?, "device");
    let pinned = device.memory("pinned_host")?.expect("the CPU has pinned host memory");
    assert_eq!(pinned.kind()?, "pinned_host");
    assert_ne!(pinned.kind_id()?, default.kind_id()?);
    assert_ne!(pinned.id()?, default.id()?);
    assert_eq!(pinned.devices()?, std::slice::from_ref(device));
    assert!(device.memory("nowhere")?.is_none());
    assert!(client().memories()?.contains(&pinned));
    Ok(())
}

#[test]
fn memories_of_a_description() -> Result<()> {
    let memories = client().devices()?[0].description()?.memories()?;
    if memories.is_empty() {
        skipped("memories_of_a_description", "the plugin lists none");
        return Ok(());
    }
    let default: Vec<_> = memories.iter().filter(|m| m.is_default).collect();
    assert_eq!(default.len(), 1, "{memories:?}");
    assert_eq!(default[0].kind, "device");
    Ok(())
}

#[test]
fn allocator_stats_where_present() -> Result<()> {
    let device = client().default_device()?;
    if let Some(stats) = if_implemented("allocator_stats", device.allocator_stats())? {
        assert!(stats.bytes_in_use >= 0);
    }
    Ok(())
}

#[test]
fn default_device_assignment() -> Result<()> {
    assert_eq!(client().default_device_assignment(2, 2)?, [[0, 1], [2, 3]]);
    assert!(client().default_device_assignment(0, 1).is_err());
    let text = client().default_device_assignment(1 << 16, 1 << 14).unwrap_err().to_string();
    assert_eq!(text, "65536 replicas of 16384 partitions need 1073741824 devices, found 4");
    Ok(())
}

#[test]
fn topology_of_a_client() -> Result<()> {
    let topology = client().topology()?;
    assert_eq!(topology.platform_name()?, "cpu");
    assert!(!topology.platform_version()?.is_empty());
    assert_eq!(topology.devices()?.len(), 4);
    topology.attributes()?;
    if let Some(fingerprint) = if_implemented("topology fingerprint", topology.fingerprint())? {
        assert_eq!(fingerprint, client().topology()?.fingerprint()?);
    }
    let restored = plugin().deserialize_topology(&topology.serialize()?);
    let Some(restored) = if_implemented("topology deserialization", restored)? else {
        return Ok(());
    };
    assert_eq!(restored.devices()?.len(), 4);
    Ok(())
}

#[test]
fn values_print() {
    assert_eq!(Value::from(vec![1i64, 2]).to_string(), "[1, 2]");
    assert_eq!(Value::from("text").to_string(), "text");
}
