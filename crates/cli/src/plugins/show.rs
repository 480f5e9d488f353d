//! Plugins for people.

use std::io::{self, Write};

use super::Report;
use super::probe::{Ability, Facts, Trial};

pub(super) fn show(reports: &[Report], out: &mut impl Write) -> io::Result<()> {
    for report in reports {
        let state = match (&report.path, report.is_usable) {
            (_, true) => "usable",
            (Some(_), false) => "unusable",
            (None, false) => "none",
        };
        writeln!(out, "{}: {state}", report.device)?;
        if let Some(path) = &report.path {
            let origin = report.origin.as_deref().unwrap_or("path");
            line(out, "file", &format!("{} (by {origin})", path.display()))?;
        }
        if let Some(reason) = &report.reason {
            line(out, "reason", reason)?;
        }
        if let Some(facts) = &report.facts {
            show_facts(facts, out)?;
        }
        if let Some(pinned) = &report.pinned {
            let (package, version, api) = (pinned.package, pinned.version, pinned.pjrt_api);
            let text = format!("{package} {version}, PJRT API {api}, licence {}", pinned.licence);
            line(out, "pinned", &text)?;
        }
        for problem in &report.known_problems {
            line(out, "known problem", problem)?;
        }
    }
    Ok(())
}

fn show_facts(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    line(out, "PJRT API", &format!("{}.{}", facts.api_version.0, facts.api_version.1))?;
    if let Some(platform) = &facts.platform {
        let version = facts.platform_version.as_deref().unwrap_or("of no stated version");
        // Some have one on several lines.
        let version = version.split_whitespace().collect::<Vec<_>>().join(" ");
        line(out, "platform", &format!("{platform} {version}"))?;
    }
    if let (Some(minimum), Some(current)) = (facts.stablehlo_minimum, facts.stablehlo_current) {
        let text = |version: [i64; 3]| version.map(|number| number.to_string()).join(".");
        line(out, "StableHLO", &format!("{} to {}", text(minimum), text(current)))?;
    }
    let devices = facts.devices.chunk_by(|a, b| a == b);
    let devices = devices.map(|run| format!("{} x {}", run.len(), run[0])).collect::<Vec<_>>();
    if !devices.is_empty() {
        line(out, "devices", &devices.join(", "))?;
    }
    let abilities = [
        ("runs programs", Ability::Run),
        ("serializes", Ability::Serialize),
        ("compiles ahead", Ability::CompileAhead),
    ];
    for (label, ability) in abilities {
        let text = match facts.abilities.get(&ability) {
            // Loading it for a client would take the TPU from whoever uses it.
            None if facts.platform.as_deref() == Some("tpu") => {
                "not tried, since a TPU may be in use".to_owned()
            }
            trial => outcome(trial),
        };
        line(out, label, &text)?;
    }
    let extensions = facts.extensions.join(", ");
    line(out, "extensions", if extensions.is_empty() { "none" } else { &extensions })
}

fn outcome(trial: Option<&Trial>) -> String {
    match trial {
        None => "not tried".to_owned(),
        Some(Trial { works: true, .. }) => "yes".to_owned(),
        Some(Trial { reason, .. }) => {
            let reason = reason.as_deref().unwrap_or_default();
            format!("no: {}", reason.lines().next().unwrap_or_default())
        }
    }
}

fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {label:14}  {text}")
}
