//! No order of dropping is wrong.

use rectiflow_pjrt::{Buffer, Client, ClientOptions, Device, Event, LoadedExecutable, Memory};
use rectiflow_pjrt::{CompileOptions, DeviceDescription, Executable, Plugin, Program, Result};
use rectiflow_pjrt::{Topology, TransferManager};

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
