//! Exchanges between the replicas or partitions of a program.
//!
//! Without a channel, groups hold replica ids; with one, global device ids (for reductions and
//! gathers) or partition ids (for exchanges).

use crate::{Channel, Graph, Op, Pairs, ReplicaGroups, Tensor, attribute::Unit};

impl Tensor {
    /// Combines the value of each member of a group with `body`; every member gets the result.
    #[track_caller]
    pub fn all_reduce(
        &self,
        groups: impl Into<ReplicaGroups>,
        channel: Option<Channel>,
        body: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let region = self.graph.record_combiner(&[self], |a, b| vec![body(&a[0], &b[0])]);
        let op = Op::AllReduce {
            replica_groups: groups.into(),
            channel_handle: channel,
            use_global_device_ids: Unit(channel.is_some()),
        };
        self.graph.record(op, &[self], vec![region], 1).swap_remove(0)
    }

    /// Joins the values of a group along a dim, in the order of the group.
    #[track_caller]
    pub fn all_gather(
        &self,
        dimension: i64,
        groups: impl Into<ReplicaGroups>,
        channel: Option<Channel>,
    ) -> Tensor {
        let op = Op::AllGather {
            all_gather_dim: dimension,
            replica_groups: groups.into(),
            channel_handle: channel,
            use_global_device_ids: Unit(channel.is_some()),
        };
        Tensor::strict(op, &[self])
    }

    /// Combines the value of each member with `body`; each member gets its part along a dim, in the
    /// order of the group.
    #[track_caller]
    pub fn reduce_scatter(
        &self,
        dimension: i64,
        groups: impl Into<ReplicaGroups>,
        channel: Option<Channel>,
        body: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let region = self.graph.record_combiner(&[self], |a, b| vec![body(&a[0], &b[0])]);
        let op = Op::ReduceScatter {
            scatter_dimension: dimension,
            replica_groups: groups.into(),
            channel_handle: channel,
            use_global_device_ids: Unit(channel.is_some()),
        };
        self.graph.record(op, &[self], vec![region], 1).swap_remove(0)
    }

    /// Splits along one dim into as many parts as a group has members, sends part `i` to member
    /// `i`, and joins what arrives along another.
    #[track_caller]
    pub fn all_to_all(
        &self,
        split: i64,
        concat: i64,
        groups: impl Into<ReplicaGroups>,
        channel: Option<Channel>,
    ) -> Tensor {
        let groups = groups.into();
        let op = Op::AllToAll {
            split_dimension: split,
            concat_dimension: concat,
            split_count: groups.size() as i64,
            replica_groups: groups,
            channel_handle: channel,
        };
        Tensor::strict(op, &[self])
    }

    /// Sends values from sources to targets, given as (source, target); who receives nothing gets
    /// zeros.
    #[track_caller]
    pub fn collective_permute(&self, pairs: impl Into<Pairs>, channel: Option<Channel>) -> Tensor {
        Tensor::strict(
            Op::CollectivePermute { source_target_pairs: pairs.into(), channel_handle: channel },
            &[self],
        )
    }
}

impl Graph {
    /// Number of the running partition, a `u32` scalar.
    #[track_caller]
    pub fn partition_id(&self) -> Tensor {
        self.record1(Op::PartitionId {}, &[])
    }

    /// Number of the running replica, a `u32` scalar.
    #[track_caller]
    pub fn replica_id(&self) -> Tensor {
        self.record1(Op::ReplicaId {}, &[])
    }
}
