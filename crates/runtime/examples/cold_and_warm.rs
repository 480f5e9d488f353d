//! Times a start with an empty folder and one with a full one: eight transformer blocks, unrolled.

use std::time::{Duration, Instant};

use rectiflow_hlo::{DType, Graph, Module, Shape};
use rectiflow_pjrt::Program;
use rectiflow_runtime::{CacheOptions, CompileOptions, Profile, Request, Runtime, RuntimeOptions};

const BLOCKS: usize = 8;
const WIDTH: i64 = 256;
const TOKENS: i64 = 128;

fn blocks() -> Result<Module, rectiflow_hlo::Error> {
    let graph = Graph::new();
    let parameter =
        |name: &str, dims: [i64; 2]| graph.parameter(name, Shape::new(DType::F32, dims));
    let mut x = parameter("x", [TOKENS, WIDTH]);
    for block in 0..BLOCKS {
        let weight = |name: &str, dims| parameter(&format!("{block}.{name}"), dims);
        let [q, k, v] = ["q", "k", "v"].map(|name| x.matmul(&weight(name, [WIDTH, WIDTH])));
        let scores = q.matmul(&k.transpose([1, 0])).exponential();
        let sums = scores.sum([1]).reshape([TOKENS, 1]);
        x = x + (scores / sums).matmul(&v).matmul(&weight("o", [WIDTH, WIDTH]));
        let up = weight("up", [WIDTH, 4 * WIDTH]);
        x = x.clone() + x.matmul(&up).gelu().matmul(&weight("down", [4 * WIDTH, WIDTH]));
    }
    graph.finish(&[&x])
}

fn main() -> anyhow::Result<()> {
    let program = Program::stablehlo(blocks()?.to_string());
    println!("program: {} bytes of text", program.code().len());
    // The first round also pays for what a process does once.
    for round in 0..4 {
        for profile in [Profile::FastCompile, Profile::Serve] {
            let folder = tempfile::tempdir()?;
            let options = CompileOptions::profile(profile);
            let request = Request { name: "blocks", program: &program, options: &options };
            for start in ["cold", "from disk"] {
                let cache = CacheOptions::in_folder(folder.path());
                let runtime = Runtime::new(&RuntimeOptions { cache, ..Default::default() })?;
                let loaded = timed(|| runtime.load())?;
                let first = timed(|| runtime.get_or_compile(&request))?;
                let again = timed(|| runtime.get_or_compile(&request))?;
                println!(
                    "{round} {profile:?}, {start}: plugin {loaded:.1?}, executable {first:.1?}, \
                     again {again:.0?}"
                );
            }
        }
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> rectiflow_runtime::Result<T>) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed())
}
