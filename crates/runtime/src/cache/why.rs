//! Why a program is not in the cache.

use std::cmp::Reverse;
use std::fmt;
use std::time::SystemTime;

use super::entry::Entry;
use super::key::{Key, Part};

/// What keeps a program from being found: the executable nearest to it, and how that differs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Why {
    /// What the program is called.
    pub name: String,
    /// What it depends on.
    pub key: Key,
    /// Whether it is in the cache after all.
    pub is_cached: bool,
    /// The nearest other executable; `None` in an empty cache.
    pub nearest: Option<Nearest>,
}

/// An executable that was compiled for something else.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Nearest {
    /// What its program was called.
    pub name: String,
    /// What it depends on.
    pub key: Key,
    /// The parts that differ, in the order of the key.
    pub differences: Vec<Difference>,
}

/// A part of the key that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What it is, such as `partitions`.
    pub label: String,
    /// What the program needs; `None` if it has no such part.
    pub wanted: Option<String>,
    /// What the executable was compiled for.
    pub found: Option<String>,
}

/// An executable that a program is compared with.
pub(super) struct Candidate {
    pub(super) key: Key,
    pub(super) name: String,
    /// Those in memory are in use.
    pub(super) last_used: Option<SystemTime>,
}

impl From<Entry> for Candidate {
    fn from(entry: Entry) -> Self {
        Candidate { key: entry.key, name: entry.name, last_used: Some(entry.last_used) }
    }
}

impl Why {
    pub(super) fn new(name: &str, key: &Key, candidates: impl Iterator<Item = Candidate>) -> Why {
        let (same, others): (Vec<Candidate>, Vec<Candidate>) =
            candidates.partition(|candidate| candidate.key == *key);
        // The same program compiled otherwise is nearer than another version of the program, and
        // that is nearer than any other program.
        let nearest = others.into_iter().min_by_key(|candidate| {
            let differs = |label| candidate.key.part(label) != key.part(label);
            let count = differences(key, &candidate.key).len();
            (differs("program"), candidate.name != name, count, Reverse(candidate.last_used))
        });
        let nearest = nearest.map(|candidate| Nearest {
            differences: differences(key, &candidate.key),
            name: candidate.name,
            key: candidate.key,
        });
        Why { name: name.to_owned(), key: key.clone(), is_cached: !same.is_empty(), nearest }
    }
}

fn differences(wanted: &Key, found: &Key) -> Vec<Difference> {
    let only_found = found.parts().iter().filter(|part| wanted.part(&part.label).is_none());
    let compare = |part: &Part| Difference {
        label: part.label.clone(),
        wanted: wanted.part(&part.label).map(str::to_owned),
        found: found.part(&part.label).map(str::to_owned),
    };
    let all = wanted.parts().iter().chain(only_found).map(compare);
    all.filter(|difference| difference.wanted != difference.found).collect()
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_cached { "is cached" } else { "is not cached" };
        write!(f, "`{}` (key {:.12}) {state}", self.name, self.key)?;
        let Some(nearest) = &self.nearest else { return f.write_str("; nothing else is") };
        write!(
            f,
            "; the nearest is `{}` (key {:.12}), which differs in",
            nearest.name, nearest.key
        )?;
        for (i, difference) in nearest.differences.iter().enumerate() {
            f.write_str(if i == 0 { " " } else { "; " })?;
            write!(f, "{difference}")?;
        }
        Ok(())
    }
}

/// Long values are cut to where they differ.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [wanted, found] =
            [&self.wanted, &self.found].map(|value| value.as_deref().unwrap_or("none"));
        let shared = wanted.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
        let shown = |text: &str| {
            let from = shared.saturating_sub(CONTEXT);
            let from = if from < CONTEXT { 0 } else { from };
            let mut shown: String = text.chars().skip(from).take(SHOWN).collect();
            if from > 0 {
                shown.insert_str(0, "...");
            }
            if text.chars().count() > from + SHOWN {
                shown.push_str("...");
            }
            if shown.is_empty() { "nothing".to_owned() } else { shown }
        };
        write!(f, "{}: wanted {}, found {}", self.label, shown(wanted), shown(found))
    }
}

/// Characters shown of a value, and of those how many before the first difference.
const SHOWN: usize = 80;
const CONTEXT: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn key(parts: &[(&str, &str)]) -> Key {
        Key::new(parts.iter().map(|(label, value)| Part::new(*label, *value)).collect())
    }

    fn candidate(name: &str, seconds: u64, parts: &[(&str, &str)]) -> Candidate {
        let last_used = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        Candidate { key: key(parts), name: name.to_owned(), last_used }
    }

    #[test]
    fn nearest_is_same_program_then_same_name_then_fewest_differences_then_last_used() {
        let wanted = key(&[("program", "p"), ("partitions", "2"), ("host", "h"), ("flag", "1")]);
        let all = |n: usize| {
            let list = [
                candidate("a", 9, &[("program", "q"), ("partitions", "2"), ("host", "i")]),
                candidate("b", 1, &[("program", "q"), ("partitions", "2"), ("host", "h")]),
                candidate("b", 2, &[("program", "r"), ("partitions", "2"), ("host", "h")]),
                candidate("x", 0, &[("program", "p"), ("partitions", "3"), ("host", "i")]),
            ];
            list.into_iter().take(n)
        };
        let nearest = |n| Why::new("b", &wanted, all(n)).nearest.unwrap().key;
        assert_eq!(nearest(4).part("program"), Some("p"));
        assert_eq!(nearest(3).part("program"), Some("r"));
        assert_eq!(nearest(2).part("host"), Some("h"));
        assert_eq!(nearest(1).part("host"), Some("i"));
        assert!(Why::new("b", &wanted, all(0)).nearest.is_none());
    }

    #[test]
    fn differences_are_named_both_ways() {
        let wanted = key(&[("partitions", "2"), ("flag a", "true")]);
        let why = Why::new(
            "x",
            &wanted,
            [candidate("y", 0, &[("partitions", "1"), ("flag b", "3")])].into_iter(),
        );
        let text = why.to_string();
        let expected = "differs in partitions: wanted 2, found 1; flag a: wanted true, found none; \
                        flag b: wanted none, found 3";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.starts_with("`x` (key "), "{text}");
    }

    #[test]
    fn long_values_are_cut_around_the_difference() {
        let long = |c: char| format!("{}{c}{}", "a".repeat(1000), "b".repeat(1000));
        let difference =
            Difference { label: "host".into(), wanted: Some(long('x')), found: Some(long('y')) };
        let text = difference.to_string();
        assert!(text.len() < 250 && text.contains("aaxbb") && text.contains("aaybb"), "{text}");
    }
}
