//! Blocks of instructions: the data that a graph is made of.

use std::{
    hash::{Hash, Hasher},
    panic::Location,
};

use crate::{Error, Op, Shape, Tensor, op::RegionType};

/// Number of a value inside one block or, in a graph that is run as it is recorded, of all time:
/// never given twice, so 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub(crate) u64);

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

/// By what it computes: the line of model code does not count.
impl PartialEq for Instruction {
    fn eq(&self, other: &Instruction) -> bool {
        let Instruction { op, operands, results, regions, location: _ } = self;
        *op == other.op
            && *operands == other.operands
            && *results == other.results
            && *regions == other.regions
    }
}

impl Eq for Instruction {}

impl Hash for Instruction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Instruction { op, operands, results, regions, location: _ } = self;
        (op, operands, results, regions).hash(state);
    }
}

impl Instruction {
    /// An op without regions, on inputs `0..n_operands`, as [`Dispatch`](crate::Dispatch) takes it.
    pub fn new(op: Op, n_operands: usize, location: &'static Location<'static>) -> Instruction {
        let operands = (0..n_operands as u64).map(ValueId).collect();
        Instruction { op, operands, results: vec![ValueId(0)], regions: Vec::new(), location }
    }

    /// Whether devices exchange data in it, itself or something in its regions.
    pub fn is_collective(&self) -> bool {
        let in_region = |region: &Block| region.instructions.iter().any(Instruction::is_collective);
        self.op.is_collective() || self.regions.iter().any(in_region)
    }

    /// The line of model code that wrote it.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Whether it must run even if its results are unused, itself or something in its regions.
    pub fn has_side_effect(&self) -> bool {
        self.op.has_side_effect() || self.regions.iter().any(Block::has_side_effect)
    }
}

/// A value of the enclosing block that a region uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Capture {
    /// Its id in the enclosing block.
    pub outer: ValueId,
    /// Its id in the region.
    pub inner: ValueId,
    /// The value itself while the region is recorded, where the enclosing graph keeps no block.
    pub(crate) live: Option<Live>,
}

/// A tensor that a region holds on to; equal to every other, since ids tell values apart.
#[derive(Clone, Debug)]
pub(crate) struct Live(pub(crate) Tensor);

impl PartialEq for Live {
    fn eq(&self, _: &Live) -> bool {
        true
    }
}
impl Eq for Live {}
impl Hash for Live {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Instructions in the order recorded, with what goes in and comes out. Operands come before uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Block {
    pub(crate) shapes: Vec<Shape>,
    /// Values that the block is given.
    pub parameters: Vec<ValueId>,
    /// Values of the enclosing block that this one uses.
    pub captures: Vec<Capture>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Values that the block gives back.
    pub results: Vec<ValueId>,
    /// Of a block in an eager graph: the first error in it, which is that of the op it belongs to.
    pub(crate) failure: Option<Error>,
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
        ValueId(self.shapes.len() as u64 - 1)
    }

    pub(crate) fn region_type(&self) -> RegionType {
        RegionType {
            parameters: self.shapes_of(&self.parameters),
            results: self.shapes_of(&self.results),
            captures: self.captures.len(),
        }
    }
}
