//! Checks of a whole module, after which printing cannot go wrong.
//!
//! Integrity: every value is defined before it is used, in its own block or through a capture;
//! functions capture nothing; regions have the parameters their ops say.
//! Types: every op's rule gives the shapes that were recorded; calls match their functions.
//! Meshes: names are identifiers, axes distinct, sizes at least 1, sizes of all meshes equal.
//! Shardings: the mesh is declared, there is one entry per dim, an axis splits at most one dim.
//! Donation: an aliased result exists, has the parameter's shape, is aliased once, and is not split
//! in another way.

use std::panic::Location;

use crate::{
    Error, Module, Op, Shape, Sharding,
    attribute::list,
    block::{Block, Instruction},
    error::Mismatch,
    graph::Donation,
    module::Function,
    op::{Inputs, RegionType},
};

/// What is wrong, and with which op.
pub(crate) struct Problem {
    op: &'static str,
    operands: Vec<Shape>,
    mismatch: Mismatch,
    location: Option<&'static Location<'static>>,
}

impl Problem {
    fn new(op: &'static str, expected: impl Into<String>, found: impl ToString) -> Problem {
        let mismatch = Mismatch::new(expected, found.to_string());
        Problem { op, operands: Vec::new(), mismatch, location: None }
    }

    /// The error, at the op's own line or else at `finish`.
    pub(crate) fn at(self, finish: &'static Location<'static>) -> Error {
        Error::new(
            self.op,
            self.operands,
            self.mismatch,
            self.location.unwrap_or(finish),
            String::new(),
        )
    }
}

type Check = Result<(), Problem>;

pub(crate) fn verify(module: &Module) -> Check {
    meshes(module)?;
    for function in module.functions.iter().chain([&module.main]) {
        if !function.block.captures.is_empty() {
            return Err(Problem::new(
                "func.func",
                "a function that uses only its parameters",
                "values from outside",
            ));
        }
        block(module, &function.block)?;
    }
    donations(module)?;
    let parameters = module.parameters.iter().map(|facts| facts.sharding.as_ref());
    shardings(module, parameters, &module.parameter_shapes())?;
    shardings(module, module.result_shardings.iter().map(Option::as_ref), &module.result_shapes())
}

fn block(module: &Module, block: &Block) -> Check {
    let mut defined = vec![false; block.shapes.len()];
    block.parameters.iter().for_each(|id| defined[id.index()] = true);
    block.captures.iter().for_each(|capture| defined[capture.inner.index()] = true);
    for instruction in &block.instructions {
        let captured = instruction
            .regions
            .iter()
            .flat_map(|region| region.captures.iter().map(|capture| &capture.outer));
        if instruction.operands.iter().chain(captured).any(|id| !defined[id.index()]) {
            return Err(Problem::new(
                instruction.op.mnemonic(),
                "operands recorded before their use",
                "a later value",
            ));
        }
        self::instruction(module, block, instruction).map_err(|problem| Problem {
            location: Some(instruction.location),
            operands: block.shapes_of(&instruction.operands),
            ..problem
        })?;
        instruction.results.iter().for_each(|id| defined[id.index()] = true);
    }
    match block.results.iter().all(|id| defined[id.index()]) {
        true => Ok(()),
        false => {
            Err(Problem::new("func.return", "results that are recorded", "an undefined value"))
        }
    }
}

fn instruction(module: &Module, block: &Block, instruction: &Instruction) -> Check {
    let op = &instruction.op;
    let problem =
        |mismatch| Problem { op: op.mnemonic(), operands: Vec::new(), mismatch, location: None };
    let operands = block.shapes_of(&instruction.operands);
    let regions: Vec<RegionType> = instruction.regions.iter().map(Block::region_type).collect();
    let inferred = op.infer(&Inputs { operands: &operands, regions: &regions }).map_err(problem)?;
    let recorded = block.shapes_of(&instruction.results);
    if inferred != recorded {
        return Err(problem(Mismatch::new(list(&inferred), list(&recorded))));
    }
    match op {
        Op::Call { callee, .. } => call(&module.functions, &callee.0, &operands, &recorded)?,
        Op::ShardingConstraint { sharding } => self::sharding(module, sharding, &recorded[0])?,
        _ => {}
    }
    instruction.regions.iter().try_for_each(|region| self::block(module, region))
}

fn call(functions: &[Function], name: &str, operands: &[Shape], results: &[Shape]) -> Check {
    let Some(callee) = functions.iter().find(|function| function.name == name) else {
        return Err(Problem::new("func.call", "a function of this graph", name));
    };
    let (parameters, returned) = (
        callee.block.shapes_of(&callee.block.parameters),
        callee.block.shapes_of(&callee.block.results),
    );
    if parameters != operands || returned != results {
        let signature = |inputs: &[Shape], outputs: &[Shape]| {
            format!("({}) -> ({})", list(inputs), list(outputs))
        };
        return Err(Problem::new(
            "func.call",
            signature(&parameters, &returned),
            signature(operands, results),
        ));
    }
    Ok(())
}

fn meshes(module: &Module) -> Check {
    let meshes = &module.meshes;
    for mesh in meshes {
        let mut functions = module.functions.iter().map(|function| &function.name);
        if mesh.name == "main" || functions.any(|name| *name == mesh.name) {
            let expected = "a name that no function of the program has";
            return Err(Problem::new("sdy.mesh", expected, format!("{:?}", mesh.name)));
        }
        let first = mesh.name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !first || !mesh.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(Problem::new(
                "sdy.mesh",
                "a name of letters, digits and _",
                format!("{:?}", mesh.name),
            ));
        }
        let distinct = mesh
            .axes
            .iter()
            .enumerate()
            .all(|(i, (name, _))| mesh.axes[..i].iter().all(|(other, _)| other != name));
        if !distinct || mesh.axes.iter().any(|(_, size)| *size < 1) {
            return Err(Problem::new("sdy.mesh", "distinct axes of size at least 1", mesh.mlir()));
        }
        if mesh.size() != meshes[0].size() {
            let expected = format!("meshes of {} devices each", meshes[0].size());
            return Err(Problem::new("sdy.mesh", expected, mesh.mlir()));
        }
    }
    Ok(())
}

fn shardings<'a>(
    module: &Module,
    all: impl Iterator<Item = Option<&'a Sharding>>,
    shapes: &[Shape],
) -> Check {
    all.zip(shapes)
        .filter_map(|(s, shape)| Some((s?, shape)))
        .try_for_each(|(s, shape)| sharding(module, s, shape))
}

fn sharding(module: &Module, sharding: &Sharding, shape: &Shape) -> Check {
    let Some(mesh) = module.meshes.iter().find(|mesh| mesh.name == sharding.mesh) else {
        return Err(Problem::new(
            "sdy.sharding",
            "a mesh declared with Graph::mesh",
            &sharding.mesh,
        ));
    };
    if sharding.dims.len() != shape.rank() {
        let expected = format!("a sharding of {} dims for {shape}", shape.rank());
        return Err(Problem::new("sdy.sharding", expected, format!("{:?}", sharding.dims)));
    }
    let axes: Vec<&String> = sharding.dims.iter().flatten().collect();
    for (i, axis) in axes.iter().enumerate() {
        if mesh.axis(axis).is_none() || axes[..i].contains(axis) {
            let expected = format!("axes of {}, each at most once", mesh.mlir());
            return Err(Problem::new("sdy.sharding", expected, format!("{:?}", sharding.dims)));
        }
    }
    Ok(())
}

fn donations(module: &Module) -> Check {
    let (parameters, results) = (module.parameter_shapes(), module.result_shapes());
    let mut aliased = vec![false; results.len()];
    for (facts, shape) in module.parameters.iter().zip(&parameters) {
        let Some(Donation::Alias(result)) = facts.donation else { continue };
        if results.get(result) != Some(shape) {
            let found = results.get(result).map_or("no such result".to_string(), Shape::to_string);
            return Err(Problem::new("alias", format!("result {result} of shape {shape}"), found));
        }
        if let (Some(of_parameter), Some(of_result)) =
            (&facts.sharding, &module.result_shardings[result])
            && of_parameter != of_result
        {
            let expected =
                format!("result {result} split as its parameter, {:?}", of_parameter.dims);
            return Err(Problem::new("alias", expected, format!("{:?}", of_result.dims)));
        }
        if std::mem::replace(&mut aliased[result], true) {
            return Err(Problem::new(
                "alias",
                "each result aliased once",
                format!("result {result} twice"),
            ));
        }
    }
    Ok(())
}
