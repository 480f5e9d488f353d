//! Meshes of devices and how values are split over them, in Shardy's terms.

use crate::{
    Attribute,
    attribute::{list, quoted},
};

/// Named axes over the devices of a program; the product of the sizes is the number of partitions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mesh {
    /// Name of the mesh, unique in a graph.
    pub name: String,
    /// Name and size of each axis, major to minor.
    pub axes: Vec<(String, i64)>,
}

impl Mesh {
    /// A mesh; `Mesh::new("mesh", [("data", 2), ("model", 4)])`.
    pub fn new<'a>(name: &str, axes: impl IntoIterator<Item = (&'a str, i64)>) -> Mesh {
        let axes = axes.into_iter().map(|(axis, size)| (axis.to_string(), size)).collect();
        Mesh { name: name.to_string(), axes }
    }

    /// The size of an axis, if the mesh has it.
    pub fn axis(&self, name: &str) -> Option<i64> {
        self.axes.iter().find(|(axis, _)| axis == name).map(|(_, size)| *size)
    }

    /// Number of devices.
    pub fn size(&self) -> i64 {
        self.axes.iter().fold(1, |devices: i64, (_, size)| devices.saturating_mul(*size))
    }

    pub(crate) fn mlir(&self) -> String {
        let axes = list(self.axes.iter().map(|(axis, size)| format!("{}={size}", quoted(axis))));
        format!("sdy.mesh @{} = <[{axes}]>", self.name)
    }
}

/// How each dim of a value is split over the axes of a mesh.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sharding {
    /// Name of the mesh.
    pub mesh: String,
    /// For each dim the axes that split it, major to minor; none leaves it whole.
    pub dims: Vec<Vec<String>>,
}

impl Sharding {
    /// A sharding; `Sharding::new(&mesh, [&["data"][..], &[]])` splits dim 0 only.
    pub fn new<'a>(mesh: &Mesh, dims: impl IntoIterator<Item = &'a [&'a str]>) -> Sharding {
        let own = |axes: &[&str]| axes.iter().map(|axis| axis.to_string()).collect();
        Sharding { mesh: mesh.name.clone(), dims: dims.into_iter().map(own).collect() }
    }

    /// Every device holds the whole value.
    pub fn replicated(mesh: &Mesh, rank: usize) -> Sharding {
        Sharding { mesh: mesh.name.clone(), dims: vec![Vec::new(); rank] }
    }
}

impl Attribute for Sharding {
    fn mlir(&self) -> Option<String> {
        let dims =
            self.dims.iter().map(|axes| format!("{{{}}}", list(axes.iter().map(|a| quoted(a)))));
        Some(format!("#sdy.sharding<@{}, [{}]>", self.mesh, list(dims)))
    }
}
