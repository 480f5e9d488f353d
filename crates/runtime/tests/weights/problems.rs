//! What is wrong with files, and how it is said.

use std::fs;

use anyhow::Result;
use rectiflow_hlo::{DType, Shape};
use rectiflow_runtime::{
    Code,
    weights::{Checkpoint, Extra, Parameter},
};

use crate::{f32s, small, write};

#[test]
fn all_that_does_not_fit_is_listed_at_once() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let checkpoint = small(folder.path())?;
    let parameters = [
        Parameter::tensor("embed.weight", f32s([3, 2])),
        Parameter::stacked(["blocks.0.bias", "blocks.1.bias", "blocks.2.bias"], f32s([2])),
        Parameter::tensor("head", f32s([1])),
        Parameter::tensor("blocks.0.bias", Shape::new(DType::I32, [2])),
    ];
    let error = checkpoint.plan(&parameters, Extra::Refused).err().expect("an error");
    assert_eq!(error.code(), Code::Checkpoint);
    let expected = format!(
        "weights in {} do not fit the model
  2 missing:
    blocks.2.bias
    head
  1 extra:
    norm
  1 misshapen:
    embed.weight: expected [3, 2], found [2, 3]
  1 of a dtype that cannot be converted:
    blocks.0.bias: expected i32, found f32",
        folder.path().join("model.safetensors").display()
    );
    assert_eq!(error.to_string(), expected);
    Ok(())
}

#[test]
fn names_in_messages_are_those_of_the_file() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let blocks = small(folder.path())?.with_prefix("blocks.");
    let error = blocks.plan(&[Parameter::tensor("9.bias", f32s([2]))], Extra::Ignored).err();
    assert!(error.expect("an error").to_string().ends_with("1 missing:\n    blocks.9.bias"));
    Ok(())
}

#[test]
fn long_lists_are_cut() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let names = (0..100).map(|i| format!("blocks.{i}.weight"));
    let stack = Parameter::stacked(names, f32s([2]));
    let error = small(folder.path())?.plan(&[stack], Extra::Ignored).err().expect("an error");
    let text = error.to_string();
    assert!(text.contains("100 missing:") && text.ends_with("and 80 more"), "{text}");
    Ok(())
}

#[test]
fn damaged_files_are_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.safetensors");
    write(&path, &[("x", vec![100], vec![0.0; 100])])?;
    let whole = fs::read(&path)?;
    let cut = &whole[..whole.len() - 1];
    let grown = [&whole[..], b"x"].concat();
    let garbage = b"<!DOCTYPE html> a page instead of a file".to_vec();
    for bytes in [&[][..], cut, &grown, &garbage, &whole[..20]] {
        fs::write(&path, bytes)?;
        let text = Checkpoint::open(&path).unwrap_err().to_string();
        let expected =
            format!("{} is not a whole safetensors file ({} bytes)", path.display(), bytes.len());
        assert!(text.starts_with(&expected), "{text}");
    }
    Ok(())
}

#[test]
fn what_is_not_there_is_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let text = Checkpoint::open(folder.path()).unwrap_err().to_string();
    assert!(
        text.contains("expected one of diffusion_pytorch_model.safetensors.index.json"),
        "{text}"
    );
    let text = Checkpoint::open(folder.path().join("x.safetensors")).unwrap_err().to_string();
    assert!(text.starts_with("cannot read weights") && text.contains("x.safetensors"), "{text}");
    Ok(())
}

#[test]
fn an_index_that_lies_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    write(&folder.path().join("a.safetensors"), &[("x", vec![1], vec![1.0])])?;
    let index = folder.path().join("model.safetensors.index.json");
    for (text, expected) in [
        (
            r#"{"weight_map": {"y": "a.safetensors"}}"#,
            "says that y is in a.safetensors, which has no such tensor",
        ),
        (r#"{"weight_map": {"x": "b.safetensors"}}"#, "b.safetensors"),
        (r#"{"weight_map": {"x": "../a.safetensors"}}"#, "expected a file beside it"),
        (r#"{"weight_map": {"x": "/a.safetensors"}}"#, "expected a file beside it"),
        ("{", "cannot read the index"),
        ("{}", "cannot read the index"),
    ] {
        fs::write(&index, text)?;
        let message = Checkpoint::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    Ok(())
}
