//! Which files are opened, and which of their bytes are read.

use std::{fs, io::Write as _, path::Path};

use anyhow::Result;
use rectiflow_hlo::DType;
use rectiflow_runtime::weights::{Checkpoint, Extra, Parameter};

use crate::{f32s, upload, write};

/// Two shards and their index, under the names that `stem` gives.
fn sharded(folder: &Path, stem: &str) -> Result<()> {
    write(&folder.join("a.safetensors"), &[("x", vec![1], vec![1.0]), ("y", vec![1], vec![2.0])])?;
    write(&folder.join("b.safetensors"), &[("z", vec![1], vec![3.0])])?;
    let index = r#"{"metadata": {"total_size": 12},
        "weight_map": {"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"}}"#;
    Ok(fs::write(folder.join(format!("{stem}.safetensors.index.json")), index)?)
}

#[test]
fn shards_are_one_checkpoint() -> Result<()> {
    for stem in ["model", "diffusion_pytorch_model"] {
        let folder = tempfile::tempdir()?;
        sharded(folder.path(), stem)?;
        let checkpoint = Checkpoint::open(folder.path())?;
        assert_eq!(checkpoint.names().collect::<Vec<_>>(), ["x", "y", "z"]);
        let stack = Parameter::stacked(["z", "x", "y"], f32s([1]));
        let buffers = upload(&checkpoint.plan(&[stack], Extra::Refused)?)?;
        assert_eq!(buffers[0].to_vec::<f32>()?, [3.0, 1.0, 2.0]);
    }
    Ok(())
}

#[test]
fn an_index_wins_over_a_file_beside_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    sharded(folder.path(), "model")?;
    write(&folder.path().join("model.safetensors"), &[("old", vec![1], vec![0.0])])?;
    assert_eq!(Checkpoint::open(folder.path())?.names().next(), Some("x"));
    Ok(())
}

/// Memory of this process that is in RAM, in bytes.
fn resident_bytes() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kilobytes: String = line.chars().filter(char::is_ascii_digit).collect();
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// A file of 4 GiB, all but its first tensor a hole: reading the rest would show.
#[test]
fn only_the_bytes_of_planned_tensors_are_read() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.safetensors");
    let large = 1u64 << 32;
    let header = format!(
        r#"{{"small":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},"large":{{"dtype":"F32","shape":[{}],"data_offsets":[4,{}]}}}}"#,
        large / 4,
        4 + large
    );
    let mut file = fs::File::create(&path)?;
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    file.write_all(&5f32.to_le_bytes())?;
    file.set_len(8 + header.len() as u64 + 4 + large)?;

    let checkpoint = Checkpoint::open(&path)?;
    assert_eq!(checkpoint.get("large").expect("a tensor").shape().dtype, DType::F32);
    let plan = checkpoint.plan(&[Parameter::tensor("small", f32s([1]))], Extra::Ignored)?;
    let before = resident_bytes()?;
    let mapped = plan.bytes();
    let elements = checkpoint.get("small").expect("a tensor").bytes().to_vec();
    let grown = resident_bytes()?.saturating_sub(before);
    assert_eq!((mapped, elements), (4, 5f32.to_le_bytes().to_vec()));
    assert!(grown < 64 << 20, "{grown} bytes became resident");
    assert_eq!(upload(&plan)?[0].to_vec::<f32>()?, [5.0]);
    Ok(())
}
