//! What a model needs, compared with what its files hold.

use std::{collections::BTreeSet, fmt::Write as _};

use rectiflow_hlo::Shape;

use super::{
    cast::castable,
    checkpoint::{Checkpoint, Tensor},
};
use crate::error::{Code, Error, Result};

/// A parameter of a program, and the tensors it is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    tensors: Vec<String>,
    /// Of each tensor.
    part: Shape,
    stacked: bool,
}

impl Parameter {
    /// One tensor. Its dims must be those of `shape`; a float of another dtype is converted.
    pub fn tensor(name: impl Into<String>, shape: Shape) -> Parameter {
        Parameter { tensors: vec![name.into()], part: shape, stacked: false }
    }

    /// Tensors of equal shape, stacked along a new dim 0, as a scan over blocks takes them.
    pub fn stacked<N: Into<String>>(names: impl IntoIterator<Item = N>, each: Shape) -> Parameter {
        let tensors = names.into_iter().map(Into::into).collect();
        Parameter { tensors, part: each, stacked: true }
    }

    /// Names of the tensors.
    pub fn names(&self) -> &[String] {
        &self.tensors
    }

    /// Shape of the parameter: with the new dim 0 if it is stacked.
    pub fn shape(&self) -> Shape {
        if !self.stacked {
            return self.part.clone();
        }
        self.part.with_dims([&[self.tensors.len() as i64], &self.part.dims[..]].concat())
    }
}

/// What to do about tensors that no parameter names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extra {
    /// They are an error: the files are of another model.
    Refused,
    /// They are left alone: the model uses a part of the files.
    Ignored,
}

/// Parameters that a checkpoint can fill, ready to be uploaded.
pub struct Plan {
    pub(super) items: Vec<Item>,
}

pub(super) struct Item {
    pub(super) shape: Shape,
    pub(super) tensors: Vec<Tensor>,
}

impl Plan {
    /// Bytes of all parameters on a device that pads nothing.
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(Item::bytes).sum()
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Item {
    /// Bytes of the parameter.
    pub(super) fn bytes(&self) -> u64 {
        self.shape.byte_size().unwrap_or(0).unsigned_abs()
    }
}

/// All that is wrong, by kind.
#[derive(Default)]
struct Problems {
    missing: Vec<String>,
    extra: Vec<String>,
    misshapen: Vec<String>,
    wrong_dtype: Vec<String>,
}

impl Checkpoint {
    /// Finds the tensors of each parameter. Reads none of them.
    ///
    /// # Errors
    /// One error that lists all tensors that are missing, misshapen, of a dtype that cannot be
    /// converted, or (if `extra` refuses them) that no parameter names.
    pub fn plan(&self, parameters: &[Parameter], extra: Extra) -> Result<Plan> {
        let mut problems = Problems::default();
        let items = parameters.iter().map(|parameter| {
            let tensors = parameter.tensors.iter();
            let tensors =
                tensors.filter_map(|name| self.checked(name, &parameter.part, &mut problems));
            Item { tensors: tensors.collect(), shape: parameter.shape() }
        });
        let items = items.collect();
        if extra == Extra::Refused {
            let named: BTreeSet<&str> = parameters
                .iter()
                .flat_map(|parameter| &parameter.tensors)
                .map(String::as_str)
                .collect();
            let unnamed = self.names().filter(|name| !named.contains(name));
            problems.extra = unnamed.map(|name| self.full_name(name)).collect();
        }
        problems.into_result(self).map(|()| Plan { items })
    }

    fn checked(&self, name: &str, part: &Shape, problems: &mut Problems) -> Option<Tensor> {
        let full = self.full_name(name);
        let Some(tensor) = self.get(name) else {
            problems.missing.push(full);
            return None;
        };
        let found = tensor.shape();
        if found.dims != part.dims {
            problems
                .misshapen
                .push(format!("{full}: expected {:?}, found {:?}", part.dims, found.dims));
        } else if !castable(found.dtype, part.dtype) {
            problems
                .wrong_dtype
                .push(format!("{full}: expected {}, found {}", part.dtype, found.dtype));
        }
        Some(tensor.clone())
    }
}

impl Problems {
    fn into_result(self, checkpoint: &Checkpoint) -> Result<()> {
        /// Enough to see what is going on; a wrong model would fill the screen.
        const SHOWN: usize = 20;
        let kinds = [
            ("missing", &self.missing),
            ("extra", &self.extra),
            ("misshapen", &self.misshapen),
            ("of a dtype that cannot be converted", &self.wrong_dtype),
        ];
        if kinds.iter().all(|(_, names)| names.is_empty()) {
            return Ok(());
        }
        let mut text = format!("weights in {} do not fit the model", checkpoint.path().display());
        for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
            let _ = write!(text, "\n  {} {kind}:", names.len());
            names.iter().take(SHOWN).for_each(|name| {
                let _ = write!(text, "\n    {name}");
            });
            if names.len() > SHOWN {
                let _ = write!(text, "\n    and {} more", names.len() - SHOWN);
            }
        }
        Err(Error::new(Code::Checkpoint, text))
    }
}
