//! The order of an array's dimensions in memory.

use std::fmt;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;
use smallvec::SmallVec;

use crate::api::Padded;
use crate::client::Client;
use crate::shape::Shape;

/// The dimensions of an array from the fastest varying to the slowest, as XLA
/// lists them.
///
/// Of a layout this is all that is compared. Tiles are not: a compiler picks them
/// by type, size and order, equally for an array's default layout and for a
/// program's parameter, and writes them in more than one way. Whoever names tiles
/// in a program's layout mode has to name the same ones in every program that the
/// array goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MinorToMajor(SmallVec<[i64; 8]>);

impl MinorToMajor {
    /// That of a dense array, outermost dimension first.
    pub(crate) fn of_rank(rank: usize) -> Self {
        MinorToMajor((0..rank as i64).rev().collect())
    }

    pub(crate) fn of_list(list: &[i64]) -> Self {
        MinorToMajor(list.into())
    }

    /// Reads a layout's text such as `{1,0:T(8,128)}`, up to its tiles.
    pub(crate) fn of_layout(layout: &str) -> Option<Self> {
        let inside = layout.strip_prefix('{')?;
        let list = inside.split([':', '}']).next()?;
        let numbers = list.split(',').filter(|number| !number.is_empty());
        numbers.map(|number| number.trim().parse().ok()).collect::<Option<_>>().map(MinorToMajor)
    }

    /// One order for all that lay an array of these dims out in the same way: those
    /// of size 1 may stand anywhere, and without elements all may.
    fn normal(&self, dims: &[i64]) -> Self {
        if dims.contains(&0) {
            return Self::of_rank(dims.len());
        }
        let is_wide = |dim: &i64| usize::try_from(*dim).is_ok_and(|dim| dims.get(dim) != Some(&1));
        let wide = self.0.iter().copied().filter(is_wide);
        MinorToMajor(wide.chain((0..dims.len() as i64).rev().filter(|dim| !is_wide(dim))).collect())
    }

    /// The C form; borrows `self`.
    pub(crate) fn layout(&self) -> Padded<sys::PJRT_Buffer_MemoryLayout> {
        let mut layout = Padded::<sys::PJRT_Buffer_MemoryLayout>::new();
        layout.type_ = sys::PJRT_Buffer_MemoryLayout_Type::PJRT_Buffer_MemoryLayout_Type_Tiled;
        layout.__bindgen_anon_1.tiled = sys::PJRT_Buffer_MemoryLayout_Tiled {
            struct_size: size_of::<sys::PJRT_Buffer_MemoryLayout_Tiled>(),
            extension_start: std::ptr::null_mut(),
            minor_to_major: self.0.as_ptr(),
            minor_to_major_size: self.0.len(),
            tile_dims: std::ptr::null(),
            tile_dim_sizes: std::ptr::null(),
            num_tiles: 0,
        };
        layout
    }
}

/// As in a layout's text: `{1,0}`.
impl fmt::Display for MinorToMajor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{{{}}}", numbers.join(","))
    }
}

impl Client {
    /// An array's order, if it is not the one that arrays of its shape have of
    /// themselves. Where the plugin does not tell, it is.
    pub(crate) fn unusual_order(
        &self,
        shape: &Shape,
        order: MinorToMajor,
    ) -> Option<Arc<MinorToMajor>> {
        let usual = MinorToMajor::of_layout(&self.default_layout(shape).ok()?)?;
        let dims = shape.dims();
        if [&order, &usual].iter().any(|order| order.0.len() != dims.len()) {
            return None;
        }
        let order = order.normal(dims);
        (order != usual.normal(dims)).then(|| Arc::new(order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(layout: &str, dims: &[i64], expected: &str) {
        let order = MinorToMajor::of_layout(layout).expect("an order");
        assert_eq!(order.normal(dims).to_string(), expected, "{layout} of {dims:?}");
    }

    #[test]
    fn dims_of_size_one_may_stand_anywhere() {
        check("{0,1,2}", &[2, 3, 4], "{0,1,2}");
        check("{0,2,1}", &[2, 1, 4], "{0,2,1}");
        check("{1,0,2}", &[2, 1, 4], "{0,2,1}");
        check("{0,1}", &[1, 4], "{1,0}");
        check("{0,1}", &[4, 1], "{0,1}");
        check("{1,0}", &[4, 1], "{0,1}");
        check("{0,1}", &[1, 1], "{1,0}");
        check("{0,1}", &[0, 4], "{1,0}");
    }

    #[test]
    fn tiles_are_no_part_of_the_order() {
        check("{1,0:T(8,128)(2,1)S(1)}", &[8, 128], "{1,0}");
        check("{:T(256)}", &[], "{}");
        check("{}", &[], "{}");
        assert_eq!(MinorToMajor::of_layout("1,0"), None);
        assert_eq!(MinorToMajor::of_layout("{a}"), None);
    }
}
