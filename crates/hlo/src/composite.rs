//! Functions made of table ops that graphs of every kind use. Those of a model family live with it.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use crate::{Tensor, error::Mismatch};

impl Tensor {
    /// Gaussian error linear unit, `x/2 (1 + erf(x / sqrt 2))` (Hendrycks and Gimpel,
    /// arXiv:1606.08415).
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        0.5 * self * (1.0 + (self * FRAC_1_SQRT_2).erf())
    }

    /// The tanh approximation of [`gelu`](Tensor::gelu) in the same paper,
    /// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        let cubic = self + 0.044715 * (self * self * self);
        0.5 * self * (1.0 + (cubic * (FRAC_2_SQRT_PI * FRAC_1_SQRT_2)).tanh())
    }

    /// `x` times its logistic (Elfwing et al., arXiv:1702.03118).
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        self * self.logistic()
    }

    /// Exponentials along a dim, scaled to a sum of 1; the greatest element is subtracted first so
    /// that none overflows.
    #[track_caller]
    pub fn softmax(&self, dimension: i64) -> Tensor {
        let exponentials = (self - self.max([dimension]).expand(dimension)).exponential();
        &exponentials / exponentials.sum([dimension]).expand(dimension)
    }

    /// The same elements with a dim of 1 inserted before `dimension`, which may be the rank.
    #[track_caller]
    pub fn expand(&self, dimension: i64) -> Tensor {
        let mut dims = self.dims().to_vec();
        match usize::try_from(dimension) {
            Ok(at) if at <= dims.len() => dims.insert(at, 1),
            _ => {
                let expected = format!("a place from 0 to {}", dims.len());
                let mismatch = Mismatch::new(expected, dimension.to_string());
                self.graph.fail("expand", vec![self.shape().clone()], mismatch);
            }
        }
        self.reshape(dims)
    }
}
