//! Compilers take the flags of the profiles, and obey them.

use std::process::Command;

use rectiflow_pjrt::{NamedValue, Plugin, Program};
use rectiflow_runtime::{CacheOptions, CompileOptions, Profile, Request};
use xla_build::Platform;

use crate::programs::{add, runtime};

const PROFILES: [Profile; 2] = [Profile::FastCompile, Profile::Serve];

/// XLA left to itself compiles a maximum that loses NaN.
#[test]
fn on_cpu_a_maximum_keeps_nan() {
    let runtime = runtime(CacheOptions::default());
    let program = Program::stablehlo(
        "module { func.func @main(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
           %r = stablehlo.maximum %a, %b : tensor<16xf32>
           return %r : tensor<16xf32> } }",
    );
    for profile in PROFILES {
        let options = CompileOptions::profile(profile);
        let request = Request { name: "maximum", program: &program, options: &options };
        let executable = runtime.get_or_compile(&request).unwrap();
        let client = runtime.client().unwrap();
        let [nan, one] =
            [f32::NAN, 1.0].map(|x| client.buffer_from_slice(&[x; 16], &[16]).unwrap());
        for args in [[&nan, &one], [&one, &nan]] {
            let result = executable.execute(&args).unwrap()[0].to_vec::<f32>().unwrap();
            assert!(result.iter().all(|x| x.is_nan()), "{profile:?}: {result:?}");
        }
    }
}

/// In a process of its own, since libtpu wants variables set before it is loaded.
#[test]
fn on_tpu_they_are_accepted() {
    let found = xla_build::find(Platform::Tpu);
    if !matches!(found, Ok(Some(_))) {
        println!("skipped: no TPU plugin on this machine");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["profiles::tpu", "--exact", "--ignored", "--nocapture"])
        .envs([("TPU_SKIP_MDS_QUERY", "1"), ("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")])
        .output()
        .unwrap();
    let [text, log] =
        [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(text.contains("COMPILED 2"), "{text}{log}");
}

#[test]
#[ignore = "the test above runs it"]
fn tpu() {
    let plugin = Plugin::load(xla_build::find(Platform::Tpu).unwrap().unwrap().path).unwrap();
    let topology = plugin.topology("v6e:1x1", &[] as &[NamedValue]).unwrap();
    for profile in PROFILES {
        let options = CompileOptions::profile(profile).to_pjrt("tpu");
        plugin.compile(&add(1), &topology, &options).unwrap();
    }
    println!("COMPILED {}", PROFILES.len());
}
