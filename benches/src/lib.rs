//! What the benches share: a client of the CPU plugin, and two ways compared in one run.

use std::time::{Duration, Instant};

use anyhow::Result;
use rectiflow_pjrt::{Client, ClientOptions, Plugin};
use xla_build::Platform;

/// A client of the CPU plugin, installed at first use.
///
/// # Errors
/// Those of the installation, of the plugin and of the client.
pub fn cpu_client() -> Result<Client> {
    let plugin = Plugin::load(xla_build::find_or_install(Platform::Cpu)?)?;
    Ok(plugin.client(&ClientOptions::new())?)
}

/// Median times of two ways to do the same.
pub struct Comparison {
    /// Of the first way, the one to be measured against.
    pub baseline: Duration,
    /// Of the second.
    pub ours: Duration,
}

impl Comparison {
    /// Times both ways in turn, so that whatever else the machine does meets both alike.
    ///
    /// # Errors
    /// The first error of either way.
    pub fn run(
        samples: usize,
        mut baseline: impl FnMut() -> Result<()>,
        mut ours: impl FnMut() -> Result<()>,
    ) -> Result<Comparison> {
        let (mut first, mut second) = (Vec::with_capacity(samples), Vec::with_capacity(samples));
        for _ in 0..samples {
            first.push(timed(&mut baseline)?);
            second.push(timed(&mut ours)?);
        }
        Ok(Comparison { baseline: median(first), ours: median(second) })
    }

    /// One line: both medians, the difference and the ratio, against the bare C calls.
    pub fn print(&self, what: &str) {
        self.print_as(what, "C calls", "rectiflow");
    }

    /// One line: both medians under their names, the difference and the ratio.
    pub fn print_as(&self, what: &str, first: &str, second: &str) {
        let [baseline, ours] = [self.baseline, self.ours].map(|time| time.as_nanos() as f64 / 1e3);
        println!(
            "{what:<28} {first} {baseline:>10.3} us   {second} {ours:>10.3} us   \
             difference {:>8.3} us   ratio {:.3}",
            ours - baseline,
            ours / baseline
        );
    }
}

fn timed(run: &mut impl FnMut() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
