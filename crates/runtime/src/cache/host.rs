//! The machine that code is compiled for and on.

use std::collections::BTreeMap;
use std::fs;

/// Lines of `/proc/cpuinfo` that say what code runs, and how it is best scheduled. The first
/// spelling is that of x86-64, the second that of aarch64.
const MODEL: [&str; 7] = [
    "vendor_id",
    "cpu family",
    "model",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
];
const FEATURES: [&str; 2] = ["flags", "Features"];

/// The processor, as far as compiled code depends on it.
///
/// Taken from the kernel, which lists more than compilers use: a needless recompile after a new
/// kernel is better than code that this processor cannot run.
///
/// The number of threads counts because loops are divided among so many when they are compiled.
pub(super) fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let threads = threads(&status).unwrap_or_default();
    format!("{threads} threads, {} {}", std::env::consts::ARCH, processor(&cpuinfo))
}

/// Threads that may run at once. XLA counts the processors it may be scheduled on, and takes no
/// notice of a container's quota of time.
fn threads(status: &str) -> Option<u32> {
    let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"))?;
    Some(mask.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum())
}

fn processor(cpuinfo: &str) -> String {
    // One block for each core, and they are alike.
    let block = cpuinfo.split("\n\n").next().unwrap_or_default();
    let lines: BTreeMap<&str, &str> = block
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let model = MODEL.iter().filter_map(|name| lines.get(name)).copied();
    let mut features: Vec<&str> = FEATURES
        .iter()
        .filter_map(|name| lines.get(name))
        .flat_map(|list| list.split_whitespace())
        .collect();
    features.sort_unstable();
    model.chain(features).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_features_count_and_clocks_do_not() {
        let x86 = |mhz: &str, flags: &str| {
            format!(
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
                 cpu MHz\t: {mhz}\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t: none\n"
            )
        };
        assert_eq!(processor(&x86("2400", "sse2 avx")), "AuthenticAMD 25 17 avx sse2");
        assert_eq!(processor(&x86("2401", "avx sse2")), processor(&x86("2400", "sse2 avx")));
        let arm = "processor: 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd40\n";
        assert_eq!(processor(arm), "0x41 0xd40 asimd fp");
    }

    #[test]
    fn this_machine_has_features() {
        let host = describe();
        assert!(host.split(' ').count() > 5, "{host}");
        let (threads, _) = host.split_once(' ').unwrap();
        assert!(threads.parse::<usize>().is_ok_and(|n| n > 0), "{host}");
    }

    #[test]
    fn threads_are_counted_in_all_words_of_the_mask() {
        assert_eq!(
            threads("Name:\tx\nCpus_allowed:\tf,00000003\nCpus_allowed_list:\t0-1\n"),
            Some(6)
        );
    }
}
