//! Weights from real safetensors files to the CPU plugin.

mod files;
mod problems;

use std::{ops::ControlFlow, path::Path};

use anyhow::Result;
use rectiflow_hlo::{DType, Shape};
use rectiflow_pjrt::{Buffer, Client, ClientOptions, Plugin};
use rectiflow_runtime::weights::{Checkpoint, Extra, Parameter, Plan};
use safetensors::{Dtype, tensor::TensorView};
use xla_build::Platform;

/// Name, dims and elements of an f32 tensor to write.
type Written<'a> = (&'a str, Vec<usize>, Vec<f32>);

fn write(path: &Path, tensors: &[Written<'_>]) -> Result<()> {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|(_, _, x)| x.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let views = tensors.iter().zip(&bytes).map(|((name, dims, _), bytes)| {
        Ok((*name, TensorView::new(Dtype::F32, dims.clone(), bytes)?))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    Ok(std::fs::write(path, safetensors::serialize(views, None)?)?)
}

/// A file with a matrix, a vector and the parts of two blocks.
fn small(folder: &Path) -> Result<Checkpoint> {
    let path = folder.join("model.safetensors");
    write(
        &path,
        &[
            ("embed.weight", vec![2, 3], vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
            ("blocks.0.bias", vec![2], vec![1.0, 2.0]),
            ("blocks.1.bias", vec![2], vec![3.0, 4.0]),
            ("norm", vec![1], vec![1e-40]),
        ],
    )?;
    Ok(Checkpoint::open(path)?)
}

fn client() -> Result<Client> {
    let plugin = Plugin::load(xla_build::find_or_install(Platform::Cpu)?)?;
    Ok(plugin.client(&ClientOptions::new())?)
}

fn upload(plan: &Plan) -> Result<Vec<Buffer>> {
    let client = client()?;
    let device = client.default_device()?;
    Ok(plan.upload(&client, &device, |_| ControlFlow::Continue(()))?)
}

fn f32s(dims: impl Into<Vec<i64>>) -> Shape {
    Shape::new(DType::F32, dims)
}

#[test]
fn tensors_arrive_as_they_are_in_the_file() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let checkpoint = small(folder.path())?;
    let parameters =
        [Parameter::tensor("embed.weight", f32s([2, 3])), Parameter::tensor("norm", f32s([1]))];
    let plan = checkpoint.plan(&parameters, Extra::Ignored)?;
    assert_eq!((plan.len(), plan.bytes()), (2, 28));
    let buffers = upload(&plan)?;
    assert_eq!(buffers[0].dims(), [2, 3]);
    assert_eq!(buffers[0].to_vec::<f32>()?, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    assert_eq!(buffers[1].to_vec::<f32>()?, [1e-40], "a subnormal is kept");
    Ok(())
}

#[test]
fn a_prefix_is_left_out_of_names() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let blocks = small(folder.path())?.with_prefix("blocks.").with_prefix("1.");
    assert_eq!(blocks.names().collect::<Vec<_>>(), ["bias"]);
    let plan = blocks.plan(&[Parameter::tensor("bias", f32s([2]))], Extra::Refused)?;
    assert_eq!(upload(&plan)?[0].to_vec::<f32>()?, [3.0, 4.0]);
    Ok(())
}

#[test]
fn blocks_are_stacked_along_a_new_dim() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let checkpoint = small(folder.path())?;
    let names = (0..2).map(|i| format!("blocks.{i}.bias"));
    let stack = Parameter::stacked(names.clone(), f32s([2]));
    assert_eq!(stack.shape(), f32s([2, 2]));
    let half = Parameter::stacked(names, Shape::new(DType::BF16, [2]));
    let buffers = upload(&checkpoint.plan(&[stack, half], Extra::Ignored)?)?;
    assert_eq!(buffers[0].to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    let expected = [1.0, 2.0, 3.0, 4.0].map(half::bf16::from_f32);
    assert_eq!(buffers[1].to_vec::<half::bf16>()?, expected);
    Ok(())
}

/// Against the `half` crate's own rounding, ties and overflow among the values.
#[test]
fn floats_are_rounded_to_the_dtype_of_the_model() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.safetensors");
    let numbers = vec![1.0, 1.003_906_3, 1.011_718_8, -0.0, 65520.0, 1e30, f32::INFINITY, 1e-8];
    write(&path, &[("x", vec![8], numbers.clone())])?;
    let checkpoint = Checkpoint::open(path)?;
    let dtypes = [DType::BF16, DType::F16, DType::F64];
    let parameters = dtypes.map(|dtype| Parameter::tensor("x", Shape::new(dtype, [8])));
    let buffers = upload(&checkpoint.plan(&parameters, Extra::Refused)?)?;
    let bits = |buffer: &Buffer| {
        buffer.to_vec::<half::bf16>().map(|x| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
    };
    let expected: Vec<u16> = numbers.iter().map(|&x| half::bf16::from_f32(x).to_bits()).collect();
    assert_eq!(bits(&buffers[0])?, expected);
    let expected: Vec<half::f16> = numbers.iter().map(|&x| half::f16::from_f32(x)).collect();
    assert_eq!(buffers[1].to_vec::<half::f16>()?, expected);
    let expected: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
    assert_eq!(buffers[2].to_vec::<f64>()?, expected);
    Ok(())
}

#[test]
fn an_upload_reports_progress_and_can_be_stopped() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let checkpoint = small(folder.path())?;
    let parameters = ["blocks.0.bias", "blocks.1.bias", "norm"]
        .map(|name| Parameter::tensor(name, f32s([if name == "norm" { 1 } else { 2 }])));
    let plan = checkpoint.plan(&parameters, Extra::Ignored)?;
    let client = client()?;
    let device = client.default_device()?;
    let mut seen = Vec::new();
    plan.upload(&client, &device, |progress| {
        seen.push((progress.parameters, progress.bytes, progress.total_bytes));
        ControlFlow::Continue(())
    })?;
    assert_eq!(seen, [(1, 8, 20), (2, 16, 20), (3, 20, 20)]);
    let stopped = plan.upload(&client, &device, |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(stopped.to_string(), "upload stopped after 1 of 3 parameters");
    assert_eq!(stopped.code(), rectiflow_runtime::Code::Cancelled);
    Ok(())
}
