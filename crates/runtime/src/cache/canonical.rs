//! MLIR text without what a compiler does not look at.
//!
//! Graphs of `rectiflow-hlo` print canonically; text from elsewhere, such as JAX's, has source
//! lines, comments and names of its own. Taking these out is lexical and leaves every token that
//! means something in its place, so that programs with equal canonical text differ in names only.

use std::borrow::Cow;
use std::collections::HashMap;

use rectiflow_pjrt::Program;

/// The bytes that stand for a program in the cache's key. Bytecode and protos stand for themselves.
pub(super) fn canonical(program: &Program) -> Cow<'_, [u8]> {
    match text_of(program) {
        Some(text) => Cow::Owned(canonical_text(text).into_bytes()),
        None => Cow::Borrowed(program.code()),
    }
}

/// MLIR text; `None` for bytecode, which begins with `ML\xefR` and so is no UTF-8, and for protos.
fn text_of(program: &Program) -> Option<&str> {
    std::str::from_utf8(program.code()).ok().filter(|_| program.format() == "mlir")
}

/// Types of the parameters and results of a canonical program's `@main`, for people to read; empty
/// where there is none to see.
pub(super) fn signature(canonical: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(canonical) else { return String::new() };
    let Some((_, rest)) = text.split_once("@main(") else { return String::new() };
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            // The body begins at the first brace that is no attribute of a parameter.
            '{' if depth == 0 => return true,
            _ => 0,
        };
        false
    });
    let header = format!("({}", &rest[..end.unwrap_or(0)]);
    header
        .split('%')
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()))
        .fold(String::new(), |signature, part| signature + part.strip_prefix(':').unwrap_or(part))
}

fn canonical_text(text: &str) -> String {
    let mut scanner =
        Scanner { rest: text, out: String::with_capacity(text.len()), names: HashMap::new() };
    while scanner.token() {}
    scanner.out
}

struct Scanner<'a> {
    rest: &'a str,
    out: String,
    /// Names of values, in the order in which they are first seen.
    names: HashMap<&'a str, usize>,
}

impl<'a> Scanner<'a> {
    /// Moves one token from `rest` to `out`; false at the end.
    fn token(&mut self) -> bool {
        let spaced = self.skip_space();
        let Some(first) = self.rest.chars().next() else { return false };
        let token = match first {
            '"' => self.take(string_len(self.rest)),
            '%' => {
                let name = self.take(1 + word_len(&self.rest[1..]));
                let next = self.names.len();
                let number = *self.names.entry(name).or_insert(next);
                self.push(spaced, &format!("%{number}"));
                return true;
            }
            '#' if self.skip_location_alias() => return true,
            _ if word_len(self.rest) > 0 => self.take(word_len(self.rest)),
            other => self.take(other.len_utf8()),
        };
        if token == "loc" && self.rest.trim_start().starts_with('(') {
            self.skip_parentheses();
            return true;
        }
        let is_outermost = token == "module" && self.out.is_empty();
        self.push(spaced, token);
        if is_outermost && let Some(name) = self.rest.trim_start().strip_prefix('@') {
            self.rest = &name[word_len(name)..];
        }
        true
    }

    /// Adds a token, with a space where there was one and it may matter.
    fn push(&mut self, spaced: bool, token: &str) {
        let tight = |c: Option<char>| c.is_none_or(|c| "()[]{}<>,:=".contains(c));
        if spaced && !tight(self.out.chars().next_back()) && !tight(token.chars().next()) {
            self.out.push(' ');
        }
        self.out.push_str(token);
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (token, rest) = self.rest.split_at(len);
        self.rest = rest;
        token
    }

    /// Skips white space and comments; whether there were any.
    fn skip_space(&mut self) -> bool {
        let before = self.rest.len();
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with("//") {
                return self.rest.len() != before;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// `#loc3 = loc(...)`.
    fn skip_location_alias(&mut self) -> bool {
        let after = self.rest[1..].strip_prefix("loc").map(|rest| &rest[word_len(rest)..]);
        let after = after.and_then(|rest| rest.trim_start().strip_prefix('='));
        let Some(after) = after.and_then(|rest| rest.trim_start().strip_prefix("loc(")) else {
            return false;
        };
        self.rest = &self.rest[self.rest.len() - after.len() - 1..];
        self.skip_parentheses();
        true
    }

    /// Skips from an opening parenthesis to behind the closing one.
    fn skip_parentheses(&mut self) {
        let mut depth = 0;
        while let Some(first) = self.rest.chars().next() {
            let len = if first == '"' { string_len(self.rest) } else { first.len_utf8() };
            self.take(len);
            depth += match first {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            if depth == 0 && first == ')' {
                return;
            }
        }
    }
}

fn word_len(text: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Length of the quoted text that `text` begins with.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "module { func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
        %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
        return %0 : tensor<2xf32> } }";

    #[test]
    fn names_lines_comments_and_spaces_do_not_count() {
        let other = "#loc = loc(unknown)\n#loc1 = loc(\"a ) b.py\":3:4)\n\
            module @jit_f {\n  // a comment\n  func.func @main(%x: tensor<2xf32> loc(\"x\")) -> tensor<2xf32> {\n\
            %sum = stablehlo.add %x, %x : tensor<2xf32> loc(#loc1)\n\
            return %sum : tensor<2xf32>   loc(callsite(\"f\"(#loc1) at #loc))\n } loc(#loc)\n } loc(#loc)";
        assert_eq!(canonical_text(other), canonical_text(PLAIN));
    }

    #[test]
    fn what_means_something_counts() {
        let changes = [
            ("add", "multiply"),
            ("2xf32", "3xf32"),
            ("%arg0, %arg0", "%0, %arg0"),
            ("@main", "@other"),
            ("module {", "module attributes {mhlo.num_partitions = 2 : i32} {"),
            ("%arg0 :", "%arg0 {note = \"loc(1) // 1\"} :"),
        ];
        for (from, to) in changes {
            let changed = PLAIN.replacen(from, to, 1);
            assert_ne!(changed, PLAIN, "{from}");
            assert_ne!(canonical_text(&changed), canonical_text(PLAIN), "{from} -> {to}");
        }
        let quoted = |text: &str| canonical_text(&format!("a {{b = \"{text}\"}}"));
        assert_ne!(quoted("loc(1)"), quoted("loc(2)"));
        assert_ne!(quoted("x // y"), quoted("x // z"));
        assert_ne!(quoted("%a %b"), quoted("%b %a"));
        assert_ne!(quoted("\\\" loc(1)"), quoted("\\\" loc(2)"));
    }

    #[test]
    fn different_values_stay_different() {
        let swapped = |a: &str, b: &str| canonical_text(&format!("f %p, %q\ng {a}, {b}"));
        assert_ne!(swapped("%p", "%q"), swapped("%q", "%p"));
        assert_ne!(swapped("%p#0", "%q"), swapped("%p#1", "%q"));
        assert_eq!(canonical_text("f %a, %b, %a"), canonical_text("f %b, %a, %b"));
    }

    #[test]
    fn signature_is_types_alone() {
        assert_eq!(signature(canonical_text(PLAIN).as_bytes()), "(tensor<2xf32>)->tensor<2xf32>");
        let attributed = "func.func @main(%a: tensor<f32> {x.y = \"{\"}, %b: i1) -> (i1) {}";
        let expected = "(tensor<f32>{x.y=\"{\"},i1)->(i1)";
        assert_eq!(signature(canonical_text(attributed).as_bytes()), expected);
        assert_eq!(signature(b"ML\xefR@main("), "");
    }
}
