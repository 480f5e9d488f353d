//! Versions of plugins with known faults.

use super::probe::Facts;

/// Platform, PJRT API, and what was seen. The API's version tells these builds apart from the
/// others of their platform that are in use.
const PROBLEMS: &[(&str, (i32, i32), &str)] = &[
    (
        "cpu",
        (0, 81),
        "xla-cpu-pjrt 0.0.1: a conformance run ended in a segmentation fault once; it logs \
         \"Unsupported fusion type\"",
    ),
    (
        "cpu",
        (0, 106),
        "fastatomstruct-xla-cpu 2026.6.23: logs an error on processor features when it loads an \
         executable from the cache, and then works",
    ),
];

pub(super) fn problems(facts: &Facts) -> Vec<&'static str> {
    let platform = facts.platform.as_deref().unwrap_or_default();
    let rows = PROBLEMS.iter();
    rows.filter(|row| row.0 == platform && row.1 == facts.api_version).map(|row| row.2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_platform_and_api() {
        let facts = |platform: &str, minor: i32| -> Facts {
            serde_json::from_value(serde_json::json!({
                "api_version": [0, minor],
                "platform": platform,
                "extensions": [],
                "devices": [],
                "abilities": {},
            }))
            .unwrap()
        };
        assert!(problems(&facts("cpu", 81))[0].contains("segmentation fault"));
        assert!(problems(&facts("cpu", 115)).is_empty());
        assert!(problems(&facts("cuda", 81)).is_empty());
    }
}
