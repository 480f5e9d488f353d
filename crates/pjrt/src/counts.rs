//! How many parameters and outputs a program has, where its form shows it.

use prost::Message;

use crate::program::Program;
use crate::proto;

impl Program {
    /// Parameters and outputs; `None` for bytecode, generic MLIR and tuples.
    pub(crate) fn counts(&self) -> Option<[usize; 2]> {
        match self.format() {
            "mlir" => counts_in_text(std::str::from_utf8(self.code()).ok()?),
            "hlo" => counts_in_proto(&proto::HloModule::decode(self.code()).ok()?),
            _ => None,
        }
    }
}

fn counts_in_proto(module: &proto::HloModule) -> Option<[usize; 2]> {
    let shape = module.program_shape.as_ref()?;
    let outputs = match shape.result.as_ref()? {
        tuple if tuple.is_tuple() => &tuple.tuple[..],
        single => std::slice::from_ref(single),
    };
    let nested = shape.parameters.iter().chain(outputs).any(proto::ArrayShape::is_tuple);
    (!nested).then_some([shape.parameters.len(), outputs.len()])
}

/// Reads `func.func [visibility] @main(...) [-> ...]`.
fn counts_in_text(text: &str) -> Option<[usize; 2]> {
    let text = blank_comments_and_strings(text);
    let is_declaration = |(at, _): &(usize, &str)| {
        let before = text[..*at].trim_end();
        ["func.func", "public", "private", "nested"].iter().any(|word| before.ends_with(word))
    };
    let (at, name) = text.match_indices("@main(").find(is_declaration)?;
    let (n_parameters, rest) = items(&text[at + name.len()..])?;
    let Some(results) = rest.trim_start().strip_prefix("->") else {
        return Some([n_parameters, 0]);
    };
    let n_outputs = match results.trim_start().strip_prefix('(') {
        Some(list) => items(list)?.0,
        None if results.trim_start().starts_with("tuple") => return None,
        None => 1,
    };
    Some([n_parameters, n_outputs])
}

/// Counts what commas separate up to the parenthesis that closes the list, and
/// returns the text behind it.
fn items(list: &str) -> Option<(usize, &str)> {
    let (mut depth, mut commas, mut is_empty, mut previous) = (0usize, 0, true, ' ');
    for (at, c) in list.char_indices() {
        match c {
            ')' if depth == 0 => {
                let n = if is_empty { 0 } else { commas + 1 };
                let is_plain = !list[..at].contains("tuple<");
                return is_plain.then(|| (n, &list[at + 1..]));
            }
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if matches!(previous, '-' | '=') => {}
            ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
        is_empty &= c.is_whitespace();
        previous = c;
    }
    None
}

/// Both may hold any character, and stand for nothing here.
fn blank_comments_and_strings(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                plain.push('_');
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<[usize; 2]>) {
        assert_eq!(Program::stablehlo(text).counts(), expected, "{text}");
    }

    #[test]
    fn signatures_in_text() {
        check("func.func @main() { return }", Some([0, 0]));
        check("module @m { func.func public @main( ) -> tensor<f32> {", Some([0, 1]));
        check(
            "func.func private @f(%a: tensor<f32>) { func.call @main(%a, %a, %a) }
             func.func @main(%a: tensor<2x3xf32, #enc<[1, 2]>> {x = \"a, )b\", y = [1, 2]}, // c, )
                %b: tensor<f32>) -> (tensor<f32> {mhlo.layout_mode = \"{0,1}\"}, tensor<i1>) {",
            Some([2, 2]),
        );
        check("func.func @main(%f: (i32, i32) -> i32) -> () {", Some([1, 0]));
    }

    #[test]
    fn what_cannot_be_counted() {
        check("\"func.func\"() <{sym_name = \"main\"}> ({}) : () -> ()", None);
        check("func.func @main(%t: tuple<tensor<f32>, tensor<f32>>) {", None);
        check("func.func @main() -> tuple<tensor<f32>> {", None);
        check("func.func @main(%a: tensor<f32>", None);
        check("func.func @main(>)", None);
        check("ML\u{ef}R", None);
    }
}
