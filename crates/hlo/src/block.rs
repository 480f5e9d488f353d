//! Blocks of instructions: the data that a graph is made of.

use std::panic::Location;

use crate::{Op, Shape, op::RegionType};

/// Number of a value inside one block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One recorded operation.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// Operands, recorded earlier in the same block.
    pub operands: Vec<ValueId>,
    /// Results.
    pub results: Vec<ValueId>,
    /// Regions, which may use values of the block through their captures.
    pub regions: Vec<Block>,
    pub(crate) location: &'static Location<'static>,
}

impl Instruction {
    /// Whether it must run even if its results are unused, itself or something in its regions.
    pub fn has_side_effect(&self) -> bool {
        self.op.has_side_effect() || self.regions.iter().any(Block::has_side_effect)
    }
}

/// Instructions in the order recorded, with what goes in and comes out. Operands come before uses.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub(crate) shapes: Vec<Shape>,
    /// Values that the block is given.
    pub parameters: Vec<ValueId>,
    /// Values of the enclosing block (left) and the id they have in this one (right).
    pub captures: Vec<(ValueId, ValueId)>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Values that the block gives back.
    pub results: Vec<ValueId>,
}

impl Block {
    /// Shape of a value of this block.
    pub fn shape(&self, id: ValueId) -> &Shape {
        &self.shapes[id.index()]
    }

    pub(crate) fn shapes_of(&self, ids: &[ValueId]) -> Vec<Shape> {
        ids.iter().map(|&id| self.shape(id).clone()).collect()
    }

    pub(crate) fn new_value(&mut self, shape: Shape) -> ValueId {
        self.shapes.push(shape);
        ValueId(self.shapes.len() as u32 - 1)
    }

    pub(crate) fn region_type(&self) -> RegionType {
        RegionType {
            parameters: self.shapes_of(&self.parameters),
            results: self.shapes_of(&self.results),
            captures: self.captures.len(),
        }
    }
}
