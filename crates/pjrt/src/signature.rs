//! What a compiled program expects of its arguments.

use std::sync::Arc;

use prost::Message;

use rectiflow_pjrt_sys as sys;

use crate::api::function;
use crate::client::Client;
use crate::element_type::ElementType;
use crate::error::Result;
use crate::executable::Executable;
use crate::order::MinorToMajor;
use crate::program::Program;
use crate::proto;
use crate::shape::Shape;

/// Parameters of an executable, as far as its plugin tells.
///
/// PJRT has no query for parameter shapes, yet a wrong argument can abort the
/// process inside a plugin. So they are read from the optimized program.
pub(crate) struct Signature {
    /// One entry per parameter; `None` inside where its size is dynamic, or it is a tuple.
    pub(crate) parameters: Option<Vec<Option<Shape>>>,
    pub(crate) n_parameters: Option<usize>,
    /// The first parameter that is a tuple: no argument fits it.
    pub(crate) tuple: Option<usize>,
    /// Parameters that alias an output or are marked as donors, in order.
    pub(crate) donated: Vec<i64>,
    /// Whether `donated` is complete.
    pub(crate) donations_known: bool,
    /// Dimension orders that are not the client's own; as many as parameters, or
    /// none where that is unknown.
    pub(crate) orders: Vec<Option<Arc<MinorToMajor>>>,
}

impl Signature {
    /// Never fails: what cannot be learned is left to the plugin to check.
    pub(crate) fn of(executable: &Executable, client: &Client) -> Self {
        let module = executable.optimized_program().and_then(|program| read_module(&program));
        match module {
            Ok(Some(module)) => Self::of_module(&module, client),
            Ok(None) => Self::unknown(executable),
            Err(error) => {
                tracing::debug!(%error, "the optimized program cannot be read");
                Self::unknown(executable)
            }
        }
    }

    fn of_module(module: &proto::HloModule, client: &Client) -> Self {
        let shapes = module.program_shape.as_ref().map(|program| &program.parameters[..]);
        let parameters: Option<Vec<_>> =
            shapes.map(|shapes| shapes.iter().map(static_shape).collect());
        let tuple = shapes.and_then(|shapes| shapes.iter().position(proto::ArrayShape::is_tuple));
        let aliases = module.input_output_alias.iter().flat_map(|list| &list.entries);
        let donors = module.buffer_donor.iter().flat_map(|list| &list.entries);
        let mut donated: Vec<i64> =
            aliases.map(|a| a.parameter).chain(donors.map(|d| d.parameter)).collect();
        donated.sort_unstable();
        donated.dedup();
        let n_parameters = parameters.as_ref().map(Vec::len);
        let order = |shape| client.unusual_order(&static_shape(shape)?, order(shape)?);
        let orders = shapes.unwrap_or_default().iter().map(order).collect();
        Signature { parameters, n_parameters, tuple, donated, donations_known: true, orders }
    }

    fn unknown(executable: &Executable) -> Self {
        let n_parameters = executable
            .parameter_memory_kinds()
            .map(|kinds| kinds.len())
            .or_else(|_| n_parameter_layouts(executable))
            .ok();
        Signature {
            parameters: None,
            n_parameters,
            tuple: None,
            donated: Vec::new(),
            donations_known: false,
            orders: Vec::new(),
        }
    }
}

/// The shape of an array whose size is fixed.
fn static_shape(shape: &proto::ArrayShape) -> Option<Shape> {
    let element_type = ElementType::from_hlo(shape.element_type)?;
    let fixed = !shape.is_dynamic.contains(&true);
    fixed.then(|| Shape::trusted(element_type, &shape.dims))
}

fn order(shape: &proto::ArrayShape) -> Option<MinorToMajor> {
    shape.layout.as_ref().map(|layout| MinorToMajor::of_list(&layout.minor_to_major))
}

fn read_module(program: &Program) -> Result<Option<proto::HloModule>> {
    let code = program.code();
    let module = match program.format() {
        "hlo" => proto::HloModule::decode(code).map(Some),
        "hlo_with_config" => proto::HloModuleWithConfig::decode(code).map(|with| with.module),
        _ => Ok(None),
    };
    module.map_err(|error| crate::Error::invalid(format!("unreadable HLO: {error}")))
}

fn n_parameter_layouts(executable: &Executable) -> Result<usize> {
    let table = executable.plugin().extension::<sys::PJRT_Layouts_Extension>()?;
    let name = "PJRT_Layouts_PJRT_Executable_GetParameterLayouts";
    let function = function!(
        sys::PJRT_Layouts_Extension,
        PJRT_Layouts_PJRT_Executable_GetParameterLayouts,
        name
    );
    // SAFETY: the executable is live; the layouts stay its own.
    let args = unsafe { table.get(function, |a| a.executable = executable.raw())? };
    Ok(args.num_parameters)
}
