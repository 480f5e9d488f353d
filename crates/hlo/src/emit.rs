//! StableHLO text of a verified module, in MLIR's generic form, which every plugin version reads.
//!
//! One rule prints every op: name, operands, regions, attributes, types. Values are numbered in
//! order, so the text depends on nothing but the recorded ops.

use std::fmt::{self, Write as _};

use crate::{
    Attribute, Module, Shape, Sharding,
    attribute::{list, quoted},
    block::{Block, Instruction},
    graph::{Donation, ParameterFacts},
    module::Function,
};

pub(crate) fn text(module: &Module, locations: bool) -> String {
    let mut emitter =
        Emitter { text: String::new(), indent: 1, next_argument: 0, next_value: 0, locations };
    emitter.text.push_str("module {\n");
    for mesh in &module.meshes {
        emitter.line(&mesh.mlir());
    }
    for function in &module.functions {
        emitter.function(function, "private ", |_| String::new(), |_| String::new());
    }
    emitter.function(
        &module.main,
        "",
        |i| argument_attributes(&module.parameters[i]),
        |i| module.result_shardings[i].as_ref().map(sharding_attribute).unwrap_or_default(),
    );
    emitter.text.push_str("}\n");
    emitter.text
}

fn sharding_attribute(sharding: &Sharding) -> String {
    format!(" {{sdy.sharding = {}}}", sharding.mlir().unwrap_or_default())
}

fn argument_attributes(facts: &ParameterFacts) -> String {
    let mut attributes = Vec::new();
    if let Some(sharding) = facts.sharding.as_ref().and_then(Attribute::mlir) {
        attributes.push(format!("sdy.sharding = {sharding}"));
    }
    match facts.donation {
        Some(Donation::Alias(result)) => {
            attributes.push(format!("tf.aliasing_output = {result} : i32"))
        }
        Some(Donation::Any) => attributes.push("jax.buffer_donor = true".to_string()),
        None => {}
    }
    if attributes.is_empty() { String::new() } else { format!(" {{{}}}", list(attributes)) }
}

/// Name of a value in the text.
#[derive(Clone, Copy)]
enum Name {
    Argument(usize),
    Value(usize),
    /// One of several results of an op.
    Part(usize, usize),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Argument(i) => write!(f, "%arg{i}"),
            Name::Value(i) => write!(f, "%{i}"),
            Name::Part(i, part) => write!(f, "%{i}#{part}"),
        }
    }
}

struct Emitter {
    text: String,
    indent: usize,
    next_argument: usize,
    next_value: usize,
    locations: bool,
}

/// Names of a block's values; verification has shown that each is set before it is read.
type Names = Vec<Name>;

impl Emitter {
    fn line(&mut self, line: &str) {
        self.start_line();
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn start_line(&mut self) {
        (0..self.indent).for_each(|_| self.text.push_str("  "));
    }

    fn function(
        &mut self,
        function: &Function,
        visibility: &str,
        argument: impl Fn(usize) -> String,
        result: impl Fn(usize) -> String,
    ) {
        let block = &function.block;
        (self.next_argument, self.next_value) = (0, 0);
        let mut names = self.argument_names(block);
        let arguments =
            block.parameters.iter().enumerate().map(|(i, id)| {
                format!("{}: {}{}", names[id.index()], block.shape(*id), argument(i))
            });
        let results = block
            .results
            .iter()
            .enumerate()
            .map(|(i, id)| format!("{}{}", block.shape(*id), result(i)));
        let header = format!(
            "func.func {visibility}@{}({}) -> ({}) {{",
            function.name,
            list(arguments),
            list(results)
        );
        self.line(&header);
        self.body(block, &mut names, "func.return");
        self.line("}");
    }

    /// Names for a block's parameters, all other values still unnamed.
    fn argument_names(&mut self, block: &Block) -> Names {
        let mut names = vec![Name::Value(usize::MAX); block.shapes.len()];
        for id in &block.parameters {
            names[id.index()] = Name::Argument(self.next_argument);
            self.next_argument += 1;
        }
        names
    }

    fn body(&mut self, block: &Block, names: &mut Names, terminator: &str) {
        self.indent += 1;
        for instruction in &block.instructions {
            self.instruction(block, instruction, names);
        }
        let results = list(block.results.iter().map(|id| names[id.index()]));
        let types = list(block.shapes_of(&block.results));
        self.line(&format!("\"{terminator}\"({results}) : ({types}) -> ()"));
        self.indent -= 1;
    }

    fn instruction(&mut self, block: &Block, instruction: &Instruction, names: &mut Names) {
        self.start_line();
        let number = self.next_value;
        self.next_value += 1;
        match instruction.results.len() {
            0 => {}
            1 => {
                let _ = write!(self.text, "%{number} = ");
            }
            n => {
                let _ = write!(self.text, "%{number}:{n} = ");
            }
        }
        let operands = list(instruction.operands.iter().map(|id| names[id.index()]));
        let _ = write!(self.text, "\"{}\"({operands})", instruction.op.mnemonic());
        self.regions(&instruction.regions, names);
        let attributes = instruction.op.attributes();
        if !attributes.is_empty() {
            let pairs = list(attributes.iter().map(|(name, value)| format!("{name} = {value}")));
            let _ = write!(self.text, " {{{pairs}}}");
        }
        let inputs = list(block.shapes_of(&instruction.operands));
        let _ = write!(
            self.text,
            " : ({inputs}) -> {}",
            result_types(&block.shapes_of(&instruction.results))
        );
        if self.locations {
            let at = instruction.location;
            let _ = write!(self.text, " loc({}:{}:{})", quoted(at.file()), at.line(), at.column());
        }
        self.text.push('\n');
        for (part, id) in instruction.results.iter().enumerate() {
            let single = instruction.results.len() == 1;
            names[id.index()] = if single { Name::Value(number) } else { Name::Part(number, part) };
        }
    }

    fn regions(&mut self, regions: &[Block], outer: &Names) {
        for (i, region) in regions.iter().enumerate() {
            self.text.push_str(if i == 0 { " ({\n" } else { ", {\n" });
            let mut names = self.argument_names(region);
            for capture in &region.captures {
                names[capture.inner.index()] = outer[capture.outer.index()];
            }
            if !region.parameters.is_empty() {
                let parameters = region
                    .parameters
                    .iter()
                    .map(|id| format!("{}: {}", names[id.index()], region.shape(*id)));
                let header = format!("^bb0({}):", list(parameters));
                self.line(&header);
            }
            self.body(region, &mut names, "stablehlo.return");
            self.start_line();
            self.text.push('}');
        }
        if !regions.is_empty() {
            self.text.push(')');
        }
    }
}

/// One type bare, any other number in parentheses.
fn result_types(shapes: &[Shape]) -> String {
    match shapes {
        [shape] => shape.to_string(),
        _ => format!("({})", list(shapes)),
    }
}
