//! What ops compute, in every mode.

use ndarray::array;
use rectiflow_runtime::Read;

use crate::{MODES, queue};

#[test]
fn ops_and_operators() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = queue.from_ndarray(&array![[1f32, 2.0], [3.0, 4.0]]).unwrap();
        let y = (&x * 2.0 + 1.0).matmul(&x).sum([1]);
        assert_eq!(y.to_ndarray::<f32>().unwrap(), array![44f32, 84.0].into_dyn(), "{mode:?}");
    }
}
