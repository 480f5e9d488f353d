//! Loads one plugin and says what it can do. Runs in a process of its own, since loading may end it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Result;
use rectiflow_pjrt::{
    self as pjrt, Client, ClientOptions, CompileOptions, LoadedExecutable, Plugin, Program,
};
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub(crate) struct ProbeArguments {
    path: PathBuf,
}

/// What the process prints: one line, and another whenever it knows more, since any step may be its
/// last.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Facts(Box<Facts>),
    Refused(String),
}

/// What a plugin says of itself, and what was tried.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) api_version: (i32, i32),
    pub(super) platform: Option<String>,
    pub(super) platform_version: Option<String>,
    pub(super) stablehlo_minimum: Option<[i64; 3]>,
    pub(super) stablehlo_current: Option<[i64; 3]>,
    pub(super) extensions: Vec<String>,
    /// Kinds of the devices that are here.
    pub(super) devices: Vec<String>,
    pub(super) abilities: BTreeMap<Ability, Trial>,
    /// What is being tried now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trying: Option<Ability>,
}

/// Something that a plugin may be able to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ability {
    /// Compile for the devices that are here, and run.
    Run,
    /// Keep executables for later processes.
    Serialize,
    /// Compile for a topology: ahead of time, for devices that need not be here.
    CompileAhead,
}

/// Whether something works.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Trial {
    pub(super) works: bool,
    /// What the plugin said if not.
    pub(super) reason: Option<String>,
}

impl Trial {
    fn of<T>(outcome: &pjrt::Result<T>) -> Trial {
        let reason = outcome.as_ref().err().map(ToString::to_string);
        Trial { works: outcome.is_ok(), reason }
    }
}

impl Facts {
    /// A plugin is of use if it runs programs, or compiles them for elsewhere.
    pub(super) fn why_unusable(&self) -> Option<String> {
        let trial = |ability| self.abilities.get(&ability);
        let works = |ability| trial(ability).is_some_and(|trial| trial.works);
        if works(Ability::Run) || works(Ability::CompileAhead) {
            return None;
        }
        let failed = trial(Ability::Run).or(trial(Ability::CompileAhead));
        let reason =
            failed.and_then(|trial| trial.reason.as_deref()).unwrap_or("nothing was tried");
        Some(format!("it loads, but neither runs nor compiles a program: {reason}"))
    }

    fn try_to<T>(
        &mut self,
        ability: Ability,
        work: impl FnOnce() -> pjrt::Result<T>,
    ) -> Result<pjrt::Result<T>> {
        self.trying = Some(ability);
        print(&Answer::Facts(Box::new(self.clone())))?;
        let outcome = work();
        self.trying = None;
        self.abilities.insert(ability, Trial::of(&outcome));
        print(&Answer::Facts(Box::new(self.clone())))?;
        Ok(outcome)
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
    match Plugin::load(&arguments.path) {
        Ok(plugin) => examine(&plugin),
        Err(error) => print(&Answer::Refused(error.to_string())),
    }
}

/// Begins a line of its own, whatever the plugin printed.
fn print(answer: &Answer) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{}", serde_json::to_string(answer)?)?;
    Ok(out.flush()?)
}

fn examine(plugin: &Plugin) -> Result<()> {
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
        abilities: BTreeMap::new(),
        trying: None,
    };
    // A client would take the TPU from whoever uses it.
    if facts.extensions.iter().any(|name| name.starts_with("Tpu")) {
        return for_tpu(plugin, &mut facts);
    }
    let program = Program::stablehlo(PROGRAM);
    let mut client = None;
    let executable = facts.try_to(Ability::Run, || {
        let client = client.insert(plugin.client(&ClientOptions::new())?);
        doubles(client, &program)
    })?;
    let Some(client) = client else { return Ok(()) };
    describe(&client, &mut facts);
    if let Ok(executable) = &executable {
        facts.try_to(Ability::Serialize, || client.deserialize(&executable.serialize()?))?.ok();
    }
    facts
        .try_to(Ability::CompileAhead, || {
            plugin.compile(&program, &client.topology()?, &CompileOptions::new())
        })?
        .ok();
    Ok(())
}

fn describe(client: &Client, facts: &mut Facts) {
    facts.platform = client.platform_name().ok();
    facts.platform_version = client.platform_version().ok();
    let kind = |device: &pjrt::Device| device.description()?.kind();
    let devices = client.addressable_devices().unwrap_or_default();
    facts.devices = devices.iter().filter_map(|device| kind(device).ok()).collect();
}

/// Compiles [`PROGRAM`], and checks what it computes.
fn doubles(client: &Client, program: &Program) -> pjrt::Result<LoadedExecutable> {
    let double = client.compile(program, &CompileOptions::new())?;
    let results = double.execute(&[&client.buffer_from_slice(&[1.5f32], &[])?])?;
    match results.first().map(|result| result.to_vec::<f32>()).transpose()?.as_deref() {
        Some([sum]) if *sum == 3.0 => Ok(double),
        other => {
            let message = format!("1.5 + 1.5 is {other:?}");
            Err(pjrt::Error::with_code(pjrt::ErrorCode::Internal, message))
        }
    }
}

fn for_tpu(plugin: &Plugin, facts: &mut Facts) -> Result<()> {
    let program = Program::stablehlo(PROGRAM);
    let mut topology = None;
    let compiled = facts.try_to(Ability::CompileAhead, || {
        let topology = topology.insert(plugin.topology(TPU_TOPOLOGY, &[])?);
        plugin.compile(&program, topology, &CompileOptions::new())
    })?;
    if let Some(topology) = &topology {
        facts.platform = topology.platform_name().ok();
        facts.platform_version = topology.platform_version().ok();
    }
    if let Ok(executable) = compiled {
        facts.try_to(Ability::Serialize, || executable.serialize())?.ok();
    }
    Ok(())
}
