//! Loads one plugin and says what it can do. Runs in a process of its own, since loading may end it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Result;
use rectiflow_pjrt::{
    self as pjrt, Client, ClientOptions, CompileOptions, Executable, Plugin, Program, Topology,
};
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub(crate) struct ProbeArguments {
    path: PathBuf,
    /// Ask for no client, which would take the TPU from whoever uses it
    #[arg(long)]
    tpu: bool,
}

/// What the process prints, on one line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Facts(Box<Facts>),
    Refused(String),
}

/// What a plugin says of itself, and what was tried.
#[derive(Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) api_version: (i32, i32),
    pub(super) platform: Option<String>,
    pub(super) platform_version: Option<String>,
    pub(super) stablehlo_minimum: Option<[i64; 3]>,
    pub(super) stablehlo_current: Option<[i64; 3]>,
    pub(super) extensions: Vec<String>,
    pub(super) devices: Vec<String>,
    /// Whether programs run; `None` if it was not tried.
    pub(super) client: Option<Trial>,
    /// Whether executables are kept for later processes.
    pub(super) serialization: Option<Trial>,
    /// Whether it compiles for devices that are not there.
    pub(super) compile_ahead: Option<Trial>,
    /// Whether it knows other devices by name, such as `v6e:2x2`.
    pub(super) named_topologies: Option<Trial>,
}

/// Whether something that was tried works, or what the plugin said.
pub(super) type Trial = Result<(), String>;

impl Facts {
    /// A plugin is of use if it runs programs, or compiles them for elsewhere.
    pub(super) fn why_unusable(&self) -> Option<String> {
        match (&self.client, &self.compile_ahead) {
            (Some(Ok(())), _) | (_, Some(Ok(()))) => None,
            (Some(Err(error)), _) => Some(format!("it loads, but has no device to use: {error}")),
            (None, Some(Err(error))) => Some(format!("it loads, but does not compile: {error}")),
            (None, None) => Some("it loads, but was asked for nothing".to_owned()),
        }
    }
}

/// The smallest of programs.
const PROGRAM: &str = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %y = stablehlo.add %x, %x : tensor<f32>
    return %y : tensor<f32>
}";

/// A topology that every libtpu knows.
const TPU_TOPOLOGY: &str = "v6e:1x1";

pub(crate) fn probe(arguments: &ProbeArguments) -> Result<()> {
    let answer = match facts(arguments) {
        Ok(facts) => Answer::Facts(Box::new(facts)),
        Err(error) => Answer::Refused(error.to_string()),
    };
    // Begins a line of its own, whatever the plugin printed.
    writeln!(io::stdout(), "\n{}", serde_json::to_string(&answer)?)?;
    Ok(())
}

fn facts(arguments: &ProbeArguments) -> pjrt::Result<Facts> {
    let plugin = Plugin::load(&arguments.path)?;
    let versions = plugin.stablehlo_versions().ok().flatten();
    let extension = |extension: pjrt::Extension| match extension.name {
        Some(name) => name.to_owned(),
        None => format!("kind {}", extension.kind),
    };
    let mut facts = Facts {
        api_version: plugin.api_version(),
        platform: None,
        platform_version: None,
        stablehlo_minimum: versions.map(|versions| versions.minimum),
        stablehlo_current: versions.map(|versions| versions.current),
        extensions: plugin.extensions().into_iter().map(extension).collect(),
        devices: Vec::new(),
        client: None,
        serialization: None,
        compile_ahead: None,
        named_topologies: None,
    };
    if !arguments.tpu {
        match plugin.client(&ClientOptions::new()) {
            Ok(client) => with_client(&client, &mut facts),
            Err(error) => facts.client = Some(Err(error.to_string())),
        }
    }
    let named = plugin.topology(TPU_TOPOLOGY, &[]);
    facts.named_topologies = Some(trial(&named));
    if let Ok(topology) = &named {
        with_topology(&plugin, topology, &mut facts);
    }
    Ok(facts)
}

fn with_client(client: &Client, facts: &mut Facts) {
    facts.platform = client.platform_name().ok();
    facts.platform_version = client.platform_version().ok();
    let kind = |device: &pjrt::Device| device.description()?.kind();
    let devices = client.addressable_devices().unwrap_or_default();
    facts.devices = devices.iter().filter_map(|device| kind(device).ok()).collect();
    let doubled = || -> pjrt::Result<Executable> {
        let double = client.compile(&Program::stablehlo(PROGRAM), &CompileOptions::new())?;
        let results = double.execute(&[&client.buffer_from_slice(&[1.5f32], &[])?])?;
        match results.first().map(|result| result.to_vec::<f32>()).transpose()?.as_deref() {
            Some([sum]) if *sum == 3.0 => Ok(double.executable().clone()),
            other => Err(pjrt::Error::with_code(
                pjrt::ErrorCode::Internal,
                format!("1.5 + 1.5 is {other:?}"),
            )),
        }
    };
    let doubled = doubled();
    facts.client = Some(trial(&doubled));
    if let Ok(executable) = &doubled {
        let restored = executable.serialize().and_then(|bytes| client.deserialize(&bytes));
        facts.serialization = Some(trial(&restored));
    }
    let ahead = client.topology().and_then(|topology| {
        let program = Program::stablehlo(PROGRAM);
        client.plugin().compile(&program, &topology, &CompileOptions::new())
    });
    facts.compile_ahead = Some(trial(&ahead));
}

/// For a plugin that has no client here.
fn with_topology(plugin: &Plugin, topology: &Topology, facts: &mut Facts) {
    facts.platform = facts.platform.take().or_else(|| topology.platform_name().ok());
    facts.platform_version =
        facts.platform_version.take().or_else(|| topology.platform_version().ok());
    let compiled = plugin.compile(&Program::stablehlo(PROGRAM), topology, &CompileOptions::new());
    facts.compile_ahead = Some(trial(&compiled));
    if let Ok(executable) = &compiled {
        facts.serialization = Some(trial(&executable.serialize()));
    }
}

fn trial<T>(outcome: &pjrt::Result<T>) -> Trial {
    outcome.as_ref().map(|_| ()).map_err(ToString::to_string)
}
