//! No order of dropping is wrong.

use std::sync::Arc;
use std::time::Duration;

use rectiflow_pjrt::{Buffer, Client, ClientOptions, Device, Event, LoadedExecutable, Memory};
use rectiflow_pjrt::{CompileOptions, DeviceDescription, Executable, Plugin, Program, Result};
use rectiflow_pjrt::{KeyValueStore, Topology, TransferManager};

use crate::plugin;

#[test]
fn arrays_outlive_client_and_plugin_handles() -> Result<()> {
    let (x, exe) = {
        let plugin = Plugin::load(plugin().path())?;
        let client = plugin.client(&ClientOptions::new())?;
        let program = Program::stablehlo(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
                %0 = stablehlo.add %x, %x : tensor<2xf32> return %0 : tensor<2xf32> }",
        );
        let exe = client.compile(&program, &CompileOptions::new())?;
        (client.buffer_from_slice(&[1f32, 2.0], &[2])?, exe)
    };
    let y = exe.execute(&[&x])?.remove(0);
    drop((exe, x));
    assert_eq!(y.to_vec::<f32>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn events_devices_and_descriptions_outlive_everything() -> Result<()> {
    let (event, device, memory, description, topology) = {
        let client = plugin().client(&ClientOptions::new())?;
        let device = client.default_device()?;
        let buffer = client.buffer_from_slice(&[1f32], &[1])?;
        let topology = client.topology()?;
        let description = topology.devices()?.remove(0);
        (buffer.ready()?, device.clone(), device.default_memory()?, description, topology)
    };
    event.wait()?;
    drop(topology);
    assert_eq!((device.id()?, description.id()?, memory.kind()?), (0, 0, "device".to_owned()));
    Ok(())
}

struct NoStore;

impl KeyValueStore for NoStore {
    fn get(&self, _: &[u8], _: Duration) -> Result<Vec<u8>> {
        unreachable!("one process needs no store")
    }
    fn try_get(&self, _: &[u8]) -> Result<Option<Vec<u8>>> {
        unreachable!("one process needs no store")
    }
    fn put(&self, _: &[u8], _: &[u8]) -> Result<()> {
        unreachable!("one process needs no store")
    }
}

/// The client holds the store, so the store tells when the client is gone.
#[test]
fn the_last_handle_destroys_the_client() -> Result<()> {
    let store = Arc::new(NoStore);
    let client = plugin().client(&ClientOptions::new().key_value_store(store.clone()))?;
    let program = Program::stablehlo(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    );
    let executable = client.compile(&program, &CompileOptions::new())?;
    let x = client.buffer_from_slice(&[1f32, 2.0], &[2])?;
    let y = executable.execute(&[&x])?.remove(0);
    y.ready()?.wait()?;
    let shapes = [rectiflow_pjrt::Shape::new(rectiflow_pjrt::ElementType::U8, &[1])?];
    let transfers = client.transfer_manager(&shapes, &x.memory()?)?;
    let topology = client.topology()?;
    drop((client, x, executable, transfers, topology));
    assert_eq!(Arc::strong_count(&store), 2, "the output still needs the client");
    drop(y);
    assert_eq!(Arc::strong_count(&store), 1);
    Ok(())
}

#[test]
fn handles_cross_threads() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Plugin>();
    send_and_sync::<Client>();
    send_and_sync::<Device>();
    send_and_sync::<DeviceDescription>();
    send_and_sync::<Memory>();
    send_and_sync::<Topology>();
    send_and_sync::<Executable>();
    send_and_sync::<LoadedExecutable>();
    send_and_sync::<Buffer>();
    send_and_sync::<Event>();
    send_and_sync::<TransferManager>();
}

#[test]
fn an_executable_outlives_the_loaded_one() -> Result<()> {
    let executable = {
        let client = plugin().client(&ClientOptions::new())?;
        let program = Program::stablehlo(
            "module @kept { func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
                return %x : tensor<2xf32> } }",
        );
        client.compile(&program, &CompileOptions::new())?.executable().clone()
    };
    assert!(executable.name()?.contains("kept"), "{:?}", executable.name());
    assert!(!executable.serialize()?.is_empty());
    Ok(())
}
