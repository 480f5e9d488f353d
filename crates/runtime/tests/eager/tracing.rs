//! What a queue tells of what it did.

use rectiflow_runtime::{EagerMode, EagerOptions, FlushReason, Read};
use serde_json::Value;

use crate::{counting, queue, with_options};

#[test]
fn chrome_reads_it() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]);
    let line = line!() + 1;
    (&x + &x).wait().unwrap();
    drop(&x * &x);
    queue.synchronize().unwrap();
    let json: Value = serde_json::from_str(&queue.trace().to_chrome_json()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let names: Vec<&str> = events.iter().map(|event| event["name"].as_str().unwrap()).collect();
    let flushes = ["host read", "compile", "launch", "synchronize", "look up", "launch"];
    assert_eq!(names[..6], flushes);
    assert!(names[6..].iter().all(|name| *name == "thread_name"), "{names:?}");
    let tracks: Vec<&Value> = events[6..].iter().map(|event| &event["args"]["name"]).collect();
    assert_eq!(tracks.len(), 3, "{tracks:?}");
    assert_eq!((tracks[0], tracks[2]), (&"recorded".into(), &"rectiflow-queue".into()));
    assert_eq!((&events[0]["ph"], &events[0]["tid"]), (&"i".into(), &0.into()));
    assert_eq!((&events[1]["tid"], &events[4]["tid"]), (&1.into(), &2.into()));
    let mut at = 0.0;
    for event in &events[..3] {
        assert_eq!(event["cat"], "host read");
        assert!(event["ts"].as_f64().unwrap() >= at, "one after the other");
        at = event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap_or(0.0);
        let args = serde_json::json!({
            "reason": "host read", "ops": 1, "dropped": 0, "outputs": 1, "output_bytes": 8,
            "donated": 0, "cache": "compiled", "wait_us": event["args"]["wait_us"],
            "from": event["args"]["to"], "to": event["args"]["from"],
        });
        assert_eq!(event["args"], args);
        let from = event["args"]["from"].as_str().unwrap();
        assert!(from.starts_with(&format!("{}:{line}:", file!())), "{from}");
    }
    let dead = &events[3]["args"];
    assert_eq!((&dead["reason"], &dead["dropped"]), (&"synchronize".into(), &1.into()));
    assert_eq!((&dead["cache"], &dead["from"]), (&"none".into(), &Value::Null));
    let empty: Value =
        serde_json::from_str(&crate::queue(EagerMode::DeferNever).1.trace().to_chrome_json())
            .unwrap();
    assert_eq!(empty["traceEvents"].as_array().unwrap().len(), 1, "the name of a track");
}

/// All reasons and many flushes fit on a screen.
#[test]
fn a_summary_fits_a_screen() {
    let options =
        EagerOptions { mode: EagerMode::DeferAndFuse, max_ops: 2, ..EagerOptions::default() };
    let (_, queue) = with_options(options);
    for dim in 2..60 {
        drop(counting(&queue, &[1]).broadcast_to([dim]));
    }
    counting(&queue, &[1]).broadcast_to([60]).wait().unwrap();
    drop(queue.scope(EagerMode::DeferNever));
    queue.synchronize().unwrap();
    let text = queue.trace().to_string();
    assert!(text.lines().count() <= 24, "{text}");
    let row = |label: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
        line.split_whitespace().map(|n| n.parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    for reason in [FlushReason::HostRead, FlushReason::OpCap] {
        let totals = queue.flushes(reason);
        let expected =
            [totals.flushes, totals.ops, totals.dropped, totals.compiles, totals.donated];
        assert_eq!(row(reason.label()), expected, "{text}");
        assert!(totals.flushes > 0);
    }
    assert!(row("synchronize").is_empty(), "what did not happen is not listed: {text}");
    assert!(text.contains("slowest of the last"), "{text}");
}

/// Old flushes are counted, and no longer kept one by one.
#[test]
fn the_log_is_bounded() {
    let options =
        EagerOptions { mode: EagerMode::DeferAndFuse, max_ops: 1, ..EagerOptions::default() };
    let (_, queue) = with_options(options);
    let x = counting(&queue, &[1]);
    (0..5000).for_each(|i| drop(x.broadcast_to([2 + i % 50])));
    queue.synchronize().unwrap();
    let total: u64 = FlushReason::ALL.iter().map(|reason| queue.flushes(*reason).flushes).sum();
    assert_eq!((total, queue.trace().flushes().len()), (5000, 4096));
    let kept = queue.trace();
    assert!(kept.flushes().is_sorted_by_key(|flush| flush.at), "oldest first");
}

/// A graph of thousands of ops is one program, and no stack or time is lost over it.
#[test]
fn a_large_graph() {
    let options =
        EagerOptions { mode: EagerMode::DeferAndFuse, max_ops: 1 << 20, ..EagerOptions::default() };
    let (_, queue) = with_options(options);
    let x = counting(&queue, &[1]);
    let mut sum = x.clone();
    for i in 0..2500i64 {
        // A shape of its own for each, so that it is no loop.
        sum = sum.broadcast_to([2 + i]).slice_dim(0, i % 2, i % 2 + 1);
    }
    assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0]);
    let flush = queue.trace().flushes()[0].clone();
    assert_eq!((flush.reason, flush.n_ops), (FlushReason::HostRead, 5000));
}
