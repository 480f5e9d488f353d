//! What an executable depends on.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rectiflow_pjrt::Program;
use sha2::{Digest, Sha256};

use super::canonical;
use crate::compile_options::CompileOptions;

/// Version of the file format and of the list of parts; an executable of another version is no hit.
pub(super) const FORMAT: u32 = 1;

/// One thing that an executable depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// What it is, such as `partitions`.
    pub label: String,
    /// Its value; for a program, its digest.
    pub value: String,
}

impl Part {
    pub(super) fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Part { label: label.into(), value: value.into() }
    }
}

/// Everything that an executable depends on, and a digest of it. Cheap to clone.
#[derive(Clone)]
pub struct Key(Arc<Inner>);

struct Inner {
    digest: [u8; 32],
    parts: Vec<Part>,
}

impl Key {
    pub(super) fn new(parts: Vec<Part>) -> Self {
        let mut hasher = Sha256::new();
        for text in parts.iter().flat_map(|part| [&part.label, &part.value]) {
            // With its length, so that no text can continue the one before it.
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        Key(Arc::new(Inner { digest: hasher.finalize().into(), parts }))
    }

    /// All parts, in a fixed order.
    pub fn parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// The value of a part.
    pub fn part(&self, label: &str) -> Option<&str> {
        let found = self.0.parts.iter().find(|part| part.label == label);
        found.map(|part| part.value.as_str())
    }
}

/// The digest, as 64 hexadecimal digits; `{:.12}` gives the first 12 of them.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex(&self.0.digest))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("digest", &hex(&self.0.digest)).finish_non_exhaustive()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}
impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

/// What a key says of the machine and the plugin: the same for all programs of a cache.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    /// `cpu`, `tpu`, `cuda`, ...
    pub(super) platform: String,
    pub(super) platform_version: String,
    pub(super) api_version: (i32, i32),
    pub(super) plugin_build: String,
    pub(super) devices: String,
    pub(super) host: String,
    pub(super) variables: Vec<(&'static str, String)>,
}

/// The one list of what goes into a key.
///
/// A value that can change what the compiler makes must be here; one that cannot, such as a name or
/// a source line, must not.
pub(super) fn key(program: &Program, options: &CompileOptions, environment: &Environment) -> Key {
    let code = canonical::canonical(program);
    let mut parts = vec![
        Part::new("format", FORMAT.to_string()),
        Part::new("program", format!("sha256 {}", hex(&Sha256::digest(&code)))),
        Part::new("program format", program.format()),
        // Follows from the program; it is here because it tells people how programs differ.
        Part::new("signature", canonical::signature(&code)),
    ];
    let options = options.parts(&environment.platform);
    parts.extend(options.into_iter().map(|(label, value)| Part::new(label, value)));
    let variables = environment.variables.iter();
    parts.extend(variables.map(|(name, value)| Part::new(*name, value)));
    let (major, minor) = environment.api_version;
    parts.extend([
        Part::new("platform", &environment.platform),
        Part::new("platform version", &environment.platform_version),
        Part::new("PJRT API", format!("{major}.{minor}")),
        Part::new("plugin build", &environment.plugin_build),
        Part::new("devices", &environment.devices),
        Part::new("host", &environment.host),
    ]);
    Key::new(parts)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment {
            platform: "cpu".into(),
            platform_version: "1".into(),
            api_version: (0, 115),
            plugin_build: "sha256 00".into(),
            devices: "1 x cpu".into(),
            host: "x86_64 avx2".into(),
            variables: vec![("XLA_FLAGS", String::new())],
        }
    }

    fn program() -> Program {
        Program::stablehlo("module { func.func @main(%a: tensor<f32>) -> tensor<f32> {} }")
    }

    /// Every field of the environment and of the options changes the key, and `differs` names it.
    #[test]
    fn every_part_counts() {
        let base = key(&program(), &CompileOptions::default(), &environment());
        let options = |change: fn(&mut CompileOptions)| {
            let mut options = CompileOptions::default();
            change(&mut options);
            key(&program(), &options, &environment())
        };
        let machine = |change: fn(&mut Environment)| {
            let mut environment = environment();
            change(&mut environment);
            key(&program(), &CompileOptions::default(), &environment)
        };
        let proto = Program::hlo_proto(program().code());
        let changed = [
            ("program format", key(&proto, &CompileOptions::default(), &environment())),
            ("replicas", options(|o| o.replicas = 2)),
            ("partitions", options(|o| o.partitions = 2)),
            ("device assignment", options(|o| o.device_assignment = Some(vec![vec![0]]))),
            ("Shardy", options(|o| o.shardy = false)),
            ("portable", options(|o| o.portable = true)),
            ("alias passthrough", options(|o| o.alias_passthrough = true)),
            ("sharding of parameters is free", options(|o| o.propagate_to_parameters = vec![true])),
            ("sharding of outputs is free", options(|o| o.propagate_to_outputs = vec![true])),
            ("flag xla_x", options(|o| drop(o.flags.insert("xla_x".into(), true.into())))),
            ("platform", machine(|e| e.platform = "host".into())),
            ("platform version", machine(|e| e.platform_version = "2".into())),
            ("PJRT API", machine(|e| e.api_version = (0, 116))),
            ("plugin build", machine(|e| e.plugin_build = "sha256 01".into())),
            ("devices", machine(|e| e.devices = "2 x cpu".into())),
            ("host", machine(|e| e.host = "x86_64 avx512f".into())),
            ("XLA_FLAGS", machine(|e| e.variables[0].1 = "--xla_x=1".into())),
        ];
        for (label, key) in &changed {
            assert_ne!(*key, base, "{label}");
            assert_ne!(key.part(label), base.part(label), "{label}");
        }
        for (i, (label, key)) in changed.iter().enumerate() {
            assert!(changed[..i].iter().all(|(_, other)| other != key), "{label}");
        }
    }

    #[test]
    fn parts_cannot_run_into_each_other() {
        let key = |label: &str, value: &str| Key::new(vec![Part::new(label, value)]);
        assert_ne!(key("ab", "c"), key("a", "bc"));
        let two = Key::new(vec![Part::new("a", ""), Part::new("", "b")]);
        assert_ne!(two, key("a", "b"));
    }

    /// `1`, `1.0` and `"1"` are different to the compiler.
    #[test]
    fn types_of_flags_count() {
        let key = |options: CompileOptions| key(&program(), &options, &environment());
        let flag = |value: crate::FlagValue| key(CompileOptions::default().flag("xla_x", value));
        let keys = [flag(1.into()), flag(1.0.into()), flag("1".into()), flag(true.into())];
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{i}");
        }
    }
}
