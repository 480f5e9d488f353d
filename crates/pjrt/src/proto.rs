//! The parts of XLA's protobuf messages this crate reads and writes. Fields
//! that are never set are left out; unknown ones are skipped when reading.

use std::collections::BTreeMap;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CompileOptions {
    #[prost(message, optional, tag = "3")]
    pub(crate) build: Option<BuildOptions>,
    #[prost(bool, tag = "4")]
    pub(crate) portable: bool,
    #[prost(btree_map = "string, message", tag = "7")]
    pub(crate) overrides: BTreeMap<String, Override>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BuildOptions {
    #[prost(int64, tag = "1")]
    pub(crate) device_ordinal: i64,
    #[prost(int64, tag = "4")]
    pub(crate) num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub(crate) num_partitions: i64,
    #[prost(bool, tag = "6")]
    pub(crate) use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    pub(crate) device_assignment: Option<DeviceAssignment>,
    #[prost(bool, tag = "10")]
    pub(crate) alias_passthrough_params: bool,
    #[prost(bool, repeated, tag = "12")]
    pub(crate) propagate_to_output: Vec<bool>,
    #[prost(bool, repeated, tag = "18")]
    pub(crate) propagate_to_parameters: Vec<bool>,
    #[prost(bool, tag = "19")]
    pub(crate) use_shardy_partitioner: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeviceAssignment {
    #[prost(int32, tag = "1")]
    pub(crate) replica_count: i32,
    #[prost(int32, tag = "2")]
    pub(crate) computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    pub(crate) computation_devices: Vec<ComputationDevice>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) replica_device_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Override {
    #[prost(oneof = "OverrideValue", tags = "1, 2, 3, 4")]
    pub(crate) value: Option<OverrideValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum OverrideValue {
    #[prost(string, tag = "1")]
    String(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Float(f64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloModuleWithConfig {
    #[prost(message, optional, tag = "1")]
    pub(crate) module: Option<HloModule>,
}

/// The signature of an optimized module.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloModule {
    #[prost(message, optional, tag = "4")]
    pub(crate) program_shape: Option<ProgramShape>,
    #[prost(message, optional, tag = "8")]
    pub(crate) input_output_alias: Option<ParameterList>,
    #[prost(message, optional, tag = "18")]
    pub(crate) buffer_donor: Option<DonorList>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProgramShape {
    #[prost(message, repeated, tag = "1")]
    pub(crate) parameters: Vec<ArrayShape>,
    #[prost(message, optional, tag = "2")]
    pub(crate) result: Option<ArrayShape>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ArrayShape {
    #[prost(int32, tag = "2")]
    pub(crate) element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) dims: Vec<i64>,
    /// What a tuple consists of.
    #[prost(message, repeated, tag = "4")]
    pub(crate) tuple: Vec<ArrayShape>,
    #[prost(message, optional, tag = "5")]
    pub(crate) layout: Option<Layout>,
    #[prost(bool, repeated, tag = "6")]
    pub(crate) is_dynamic: Vec<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Layout {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) minor_to_major: Vec<i64>,
}

impl ArrayShape {
    /// Whether it is no array but a tuple of them.
    pub(crate) fn is_tuple(&self) -> bool {
        /// `xla.PrimitiveType` of a tuple.
        const TUPLE: i32 = 13;
        self.element_type == TUPLE
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ParameterList {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<AliasEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AliasEntry {
    #[prost(int64, tag = "2")]
    pub(crate) parameter: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DonorList {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<DonorEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DonorEntry {
    #[prost(int64, tag = "1")]
    pub(crate) parameter: i64,
}
