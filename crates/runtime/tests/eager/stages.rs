//! Programs compiled as a whole, called on arrays of a queue.

use std::sync::Once;

use rectiflow_hlo::{CustomCall, DType, Graph, Shape, Tensor};
use rectiflow_pjrt::ffi::CallFrame;
use rectiflow_runtime::{
    Array, Code, CompileOptions, Compiled, EagerMode, EagerOptions, Read, Runtime, RuntimeOptions,
    Traced,
};

use crate::{MODES, counting, here, queue};

fn f32s(dims: impl Into<Vec<i64>>) -> Shape {
    Shape::new(DType::F32, dims)
}

fn compile(runtime: &Runtime, traced: &Traced) -> Compiled {
    traced.lower().compile(runtime, &CompileOptions::default()).unwrap()
}

/// Lines and names appear in what was traced, and not in what is compiled.
#[test]
fn stages_print() {
    let mut line = 0;
    let traced = Traced::new("first", &[f32s([2])], |x| {
        line = line!() + 1;
        vec![&x[0] + &x[0]]
    })
    .unwrap();
    let here = format!("{}\":{line}", file!());
    assert!(traced.to_string().contains(&here), "{here} {traced}");
    let lowered = traced.lower();
    assert!(!lowered.to_string().contains(file!()), "{lowered}");
    assert!(lowered.to_string().contains("stablehlo.add"), "{lowered}");

    let graph = Graph::new();
    let x = graph.parameter("another name", f32s([2]));
    let scope = graph.scope("and a scope");
    let module = graph.finish(&[&(x.clone() + x)]).unwrap();
    drop(scope);
    let renamed = Traced::of("second", module);
    assert_eq!(renamed.lower().to_string(), lowered.to_string());

    let (runtime, _) = queue(EagerMode::DeferNever);
    let text = compile(&runtime, &traced).to_string();
    assert!(text.starts_with("first: (tensor<2xf32>) -> (tensor<2xf32>)\non "), "{text}");
    compile(&runtime, &renamed);
    assert_eq!(runtime.stats().compiles, 1);
}

#[test]
fn an_error_has_its_line() {
    let mut here = String::new();
    let traced = Traced::new("f", &[f32s([2])], |x| {
        let (y, line) = (x[0].sum([7]), here!());
        here = line;
        vec![y]
    });
    let error = traced.unwrap_err();
    assert_eq!(error.code(), Code::Shape);
    assert!(error.to_string().starts_with(&here), "{error}");
}

fn model(x: &[Tensor]) -> Vec<Tensor> {
    vec![&x[0] * 2.0 + &x[1], x[0].sum([0])]
}

/// A function is traced once for each list of shapes.
#[test]
fn jit_goes_by_shapes() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let traces = std::cell::Cell::new(0);
        let jit = runtime.jit("model", &CompileOptions::default(), |x| {
            traces.set(traces.get() + 1);
            model(x)
        });
        for (dim, n) in [(2, 1), (3, 2), (2, 2), (3, 2)] {
            let x = counting(&queue, &[dim]);
            let one = queue.graph().full(f32s([]), 1).broadcast_to([dim]);
            let results = jit.call(&queue, &[&x, &one]).unwrap();
            let expected: Vec<f32> = (0..dim).map(|i| 2.0 * i as f32 + 1.0).collect();
            assert_eq!(results[0].to_vec::<f32>().unwrap(), expected, "{mode:?}");
            assert_eq!((&results[1] * 2.0).item::<f32>().unwrap(), (dim * (dim - 1)) as f32);
            assert_eq!(traces.get(), n);
        }
    }
}

#[test]
fn wrong_arguments_are_all_told_at_once() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let graph = Graph::new();
    let [x, y] = ["latents", "sigma"].map(|name| graph.parameter(name, f32s([2])));
    let module = graph.finish(&[&(&x + &y)]).unwrap();
    let compiled = compile(&runtime, &Traced::of("denoise", module));
    let (three, ints) = (counting(&queue, &[3]), queue.from_slice(&[1i32, 2], &[2]).unwrap());
    let error = compiled.call(&queue, &[&three, &ints, &three]).unwrap_err();
    assert_eq!(error.code(), Code::Array);
    assert_eq!(
        error.to_string(),
        "cannot call `denoise`: expected 2 arguments, found 3; \
         argument 0 (latents): expected tensor<2xf32>, found tensor<3xf32>; \
         argument 1 (sigma): expected tensor<2xf32>, found tensor<2xi32>"
    );
    let traced = graph.parameter("z", f32s([2]));
    let error = compiled.call(&queue, &[&traced, &traced]).unwrap_err();
    assert!(error.to_string().contains("being traced"), "{error}");
}

#[test]
fn an_argument_with_an_error_gives_it() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let compiled = compile(&runtime, &Traced::new("f", &[f32s([])], |x| x.to_vec()).unwrap());
    let (wrong, here) = (counting(&queue, &[]).sum([3]), here!());
    let error = compiled.call(&queue, &[&wrong]).unwrap_err();
    assert!(error.to_string().starts_with(&here), "{error}");
}

/// A program that may write its result into its first argument.
fn in_place(runtime: &Runtime) -> Compiled {
    let graph = Graph::new();
    let x = graph.parameter("x", f32s([2]));
    graph.alias(&x, 0);
    compile(runtime, &Traced::of("in place", graph.finish(&[&(&x + &x)]).unwrap()))
}

/// Where the elements are.
fn address(runtime: &Runtime, array: &Array) -> u64 {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let plugin = runtime.client().unwrap().plugin();
        let tell = |call: &mut CallFrame<'_>| {
            let address = call.argument(0)?.bytes()?.as_ptr() as u64;
            call.result(0)?.elements_mut::<u64>()?[0] = address;
            Ok(())
        };
        plugin.register_ffi("eager.address", "Host", tell).unwrap();
    });
    let (call, shape) = (CustomCall::new("eager.address"), Shape::scalar(DType::U64));
    array.graph().custom_call(&call, &[array], &[shape])[0].item().unwrap()
}

#[test]
fn what_is_given_away_is_used_up_where_nobody_holds_it() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let compiled = in_place(&runtime);
        assert_eq!(compiled.executable().donated_parameters(), [0]);
        let alone = counting(&queue, &[2]) + 1.0;
        let before = address(&runtime, &alone);
        let given = compiled.call_donating(&queue, vec![alone]).unwrap();
        assert_eq!(address(&runtime, &given[0]), before, "{mode:?}");
        assert_eq!(given[0].to_vec::<f32>().unwrap(), [2.0, 4.0], "{mode:?}");
        let held = counting(&queue, &[2]) + 1.0;
        for results in [
            compiled.call_donating(&queue, vec![held.clone()]).unwrap(),
            compiled.call(&queue, &[&held]).unwrap(),
        ] {
            assert_eq!(results[0].to_vec::<f32>().unwrap(), [2.0, 4.0], "{mode:?}");
            assert_eq!(held.to_vec::<f32>().unwrap(), [1.0, 2.0], "{mode:?}");
            assert_ne!(address(&runtime, &results[0]), address(&runtime, &held), "{mode:?}");
        }
    }
}

#[test]
fn a_program_of_another_device_is_refused() {
    let options = RuntimeOptions { device_count: Some(2), ..RuntimeOptions::default() };
    let runtime = Runtime::new(&options).unwrap();
    let [zero, one] = [0, 1].map(|device| {
        runtime.new_queue(&EagerOptions { device, ..EagerOptions::default() }).unwrap()
    });
    let devices = runtime.client().unwrap().addressable_devices().unwrap();
    for (queue, device) in [(&zero, &devices[0]), (&one, &devices[1])] {
        let y = counting(queue, &[2]) + 1.0;
        assert_eq!(y.buffer().unwrap().device().unwrap(), *device);
        assert_eq!(y.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    }
    let traced = Traced::new("f", &[f32s([2])], |x| vec![&x[0] + &x[0]]).unwrap();
    let id = i64::from(devices[1].id().unwrap());
    let on_one = CompileOptions { device_assignment: Some(vec![vec![id]]), ..Default::default() };
    let compiled = traced.lower().compile(&runtime, &on_one).unwrap();
    let results = compiled.call(&one, &[&counting(&one, &[2])]).unwrap();
    assert_eq!(results[0].buffer().unwrap().device().unwrap(), devices[1]);
    let error = compiled.call(&zero, &[&counting(&zero, &[2])]).unwrap_err();
    assert_eq!(error.code(), Code::Array);
    assert!(error.to_string().contains("`f` is compiled for"), "{error}");
    let error = zero.adopt(&counting(&one, &[2])).unwrap_err();
    assert_eq!(error.code(), Code::Array);
}
