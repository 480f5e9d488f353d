//! Ops that need no program: constants, tuples, and annotations for several devices.

use std::sync::Arc;

use rectiflow_hlo::{Instruction, Literal, Op, Shape, Tensor};

use super::queue::{Inner, Inputs};
use super::slot::{Slot, Source};
use crate::error::{Code, Error, Result};

/// What is to be done for an op.
pub(super) enum Resolved {
    /// The instruction runs on these values.
    Op(Inputs),
    /// Its only result is this value.
    Value(Arc<Slot>),
}

impl Inner {
    /// What is to be done for an op, which may become another; or the error of a value it needs.
    pub(super) fn resolve(
        &self,
        instruction: &mut Instruction,
        inputs: &[&Tensor],
    ) -> Result<Resolved> {
        let slots: Inputs = inputs.iter().map(|tensor| Slot::of(tensor)).collect::<Result<_>>()?;
        if let Some(error) = slots.iter().find_map(|slot| slot.error()) {
            return Err(error.clone());
        }
        match &instruction.op {
            Op::Constant { value } => self.constant(instruction, &value.clone()),
            Op::Tuple {} => Ok(Resolved::Value(Arc::new(tuple(inputs, slots)))),
            Op::GetTupleElement { index } => member(&slots[0], *index),
            // A queue runs on one device, where nothing is split.
            Op::ShardingConstraint { .. } => Ok(Resolved::Value(slots[0].clone())),
            _ => match slots.iter().any(|slot| matches!(slot.source, Source::Members(_))) {
                true => Err(of_tuple(instruction)),
                false => Ok(Resolved::Op(slots)),
            },
        }
    }

    /// Constants are arguments, so that a new number is no new program; one number everywhere is
    /// sent once and repeated on the device.
    fn constant(&self, instruction: &mut Instruction, value: &Literal) -> Result<Resolved> {
        let shape = value.shape();
        let scalar = match value.as_splat() {
            Some(number) if shape.rank() > 0 => {
                Literal::splat(Shape::scalar(shape.dtype), number).ok()
            }
            _ => None,
        };
        let is_repeated = scalar.is_some();
        let Some(slot) = self.constants.get(scalar.as_ref().unwrap_or(value), self)? else {
            // Elements that only the compiler can encode.
            return Ok(Resolved::Op(Inputs::new()));
        };
        if !is_repeated {
            return Ok(Resolved::Value(slot));
        }
        let dims = shape.dims.clone().into();
        let repeat = Op::BroadcastInDim { broadcast_dimensions: Vec::new(), dims };
        *instruction = Instruction::new(repeat, 1, instruction.location());
        Ok(Resolved::Op([slot].into_iter().collect()))
    }
}

fn tuple(inputs: &[&Tensor], members: Inputs) -> Slot {
    let shapes: Vec<Shape> = inputs.iter().map(|tensor| tensor.shape().clone()).collect();
    Slot::new(Arc::new(Shape::tuple(shapes)), Source::Members(members.into_vec()))
}

fn member(tuple: &Slot, index: i32) -> Result<Resolved> {
    let Source::Members(members) = &tuple.source else {
        unreachable!("only the op that makes a tuple makes a value of its type")
    };
    Ok(Resolved::Value(Arc::clone(&members[index as usize])))
}

fn of_tuple(instruction: &Instruction) -> Error {
    let message = format!(
        "{}: {}: expected arrays, found a tuple: in an eager queue a tuple is no value of the \
         device; pass its members",
        instruction.location(),
        instruction.op.mnemonic()
    );
    Error::new(Code::Array, message)
}
