//! What each subcommand does.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail};
use xla_build::manifest::{Purpose, Row};
use xla_build::{Bar, Finder, Platform, Progress};

/// What can be installed by name.
#[derive(Clone, Copy)]
pub(crate) struct What(Purpose);

impl FromStr for What {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "headers" => Ok(What(Purpose::Headers)),
            _ => match text.parse() {
                Ok(platform) => Ok(What(Purpose::Plugin(platform))),
                Err(error) => bail!("{error}, or headers"),
            },
        }
    }
}

pub(crate) fn install(what: What) -> Result<()> {
    let finder = Finder::from_env()?;
    let row = finder.row(what.0)?;
    let mut progress = Bar::stderr();
    let known = finder.installed(row).is_some();
    if !known {
        let megabytes = row.size.div_ceil(1_000_000);
        progress.note(&format!(
            "installing {} {} (licence: {}, {megabytes} MB to download)",
            row.package, row.version, row.licence
        ));
    }
    let path = finder.install_row(row, &mut progress)?;
    if known {
        progress.note(&format!("{} {} is already installed", row.package, row.version));
    }
    if let Purpose::Plugin(Platform::Cuda12 | Platform::Cuda13) = row.purpose {
        progress.note("this plugin needs NVIDIA's CUDA libraries on the loader's path");
    }
    println!("{}", path.display());
    Ok(())
}

pub(crate) fn list() -> Result<()> {
    let finder = Finder::from_env()?;
    let mut table = vec![
        ["for", "package", "version", "machine", "pjrt", "licence", "installed"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in &finder.settings().manifest {
        let pjrt_api = if row.pjrt_api.is_empty() { "-" } else { row.pjrt_api };
        let installed = finder.installed(row).map(|i| i.path.display().to_string());
        table.push(vec![
            name(row),
            row.package.to_owned(),
            row.version.to_owned(),
            row.machine.to_string(),
            pjrt_api.to_owned(),
            row.licence.to_owned(),
            installed.unwrap_or_else(|| "no".to_owned()),
        ]);
    }
    print_table(&table);
    println!("\nused now:");
    let used = Platform::ALL.map(|platform| {
        let (path, origin) = match finder.find(platform) {
            Ok(Some(found)) => (found.path.display().to_string(), found.origin.to_string()),
            Ok(None) => (format!("none; run `xla-build install {platform}`"), "-".to_owned()),
            Err(error) => (error.to_string(), "error".to_owned()),
        };
        vec![platform.to_string(), origin, path]
    });
    print_table(&used);
    print_passed_over(&finder);
    Ok(())
}

/// One line for each reason.
fn print_passed_over(finder: &Finder) {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for platform in Platform::ALL {
        let Some(reason) = finder.passed_over(platform) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, platforms)) => platforms.push(platform.to_string()),
            None => reasons.push((reason, vec![platform.to_string()])),
        }
    }
    for (reason, platforms) in reasons {
        println!("\nnot used for {}: {reason}", platforms.join(", "));
    }
    for name in ["PJRT_PLUGIN_LIBRARY_PATH", "TPU_LIBRARY_PATH"] {
        if std::env::var_os(name).is_some_and(|value| value.is_empty()) {
            println!("\nnot used: {name}: it is set to nothing");
        }
    }
}

fn name(row: &Row) -> String {
    match row.purpose {
        Purpose::Plugin(platform) => platform.to_string(),
        Purpose::Headers => "headers".to_owned(),
        Purpose::Libclang => "bindgen".to_owned(),
    }
}

fn print_table(rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |c: usize| rows.iter().map(|r| r[c].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

pub(crate) fn verify() -> Result<()> {
    let finder = Finder::from_env()?;
    let (mut good, mut bad) = (0, 0);
    for row in &finder.settings().manifest {
        match finder.verify(row) {
            Ok(None) => {}
            Ok(Some(installed)) => {
                good += 1;
                println!("ok       {}", installed.path.display());
            }
            Err(error) => {
                bad += 1;
                println!("damaged  {error}");
            }
        }
    }
    match (good, bad) {
        (0, 0) => println!("nothing is installed in {}", finder.settings().cache.display()),
        (_, 0) => {}
        _ => bail!("{bad} of {} installed files are damaged", good + bad),
    }
    Ok(())
}

#[cfg(not(feature = "bindgen"))]
pub(crate) fn bindgen(_check: bool, _output: &Path) -> Result<()> {
    bail!(
        "this xla-build was built without bindgen; in the workspace's root run \
         `cargo run -p xla-build --features bindgen -- bindgen`"
    )
}

#[cfg(feature = "bindgen")]
pub(crate) fn bindgen(check: bool, output: &Path) -> Result<()> {
    use anyhow::Context;
    use xla_build::bindings;

    let finder = Finder::from_env()?;
    let mut progress = Bar::stderr();
    if std::env::var_os("LIBCLANG_PATH").is_none() {
        return again_with(&bindings::libclang_folder(&finder, &mut progress)?);
    }
    let text = bindings::generate(&finder, &mut progress)?;
    let old = std::fs::read_to_string(output).with_context(|| {
        format!(
            "cannot read {}; run this in the workspace's root or give --output",
            output.display()
        )
    });
    if !check {
        std::fs::write(output, text)
            .with_context(|| format!("cannot write {}", output.display()))?;
        println!("wrote {}", output.display());
        return Ok(());
    }
    let old = old?;
    if old == text {
        println!("{} is up to date", output.display());
        return Ok(());
    }
    let same = old.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
    bail!(
        "{} differs from the pinned headers from line {} on; run `xla-build bindgen`",
        output.display(),
        same + 1
    )
}

/// Runs this command once more with `LIBCLANG_PATH` set, which libclang's loader reads; a process
/// cannot safely change its own environment.
#[cfg(feature = "bindgen")]
fn again_with(folder: &Path) -> Result<()> {
    let status = std::process::Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env("LIBCLANG_PATH", folder)
        .status()?;
    match status.success() {
        true => Ok(()),
        // The other process has said why.
        false => std::process::exit(status.code().unwrap_or(1)),
    }
}
