//! Barriers, fences, `mbarrier`, votes, launch control: instructions that involve several threads.

use super::super::info::{OpcodeInfo, Purity};
use super::{Rule, rule};
use crate::function::MemorySpace::Shared;

const OPAQUE: OpcodeInfo = OpcodeInfo::other(Purity::Opaque);

const EXCHANGE: OpcodeInfo = OpcodeInfo::other(Purity::Exchange).collective();

pub(super) const RULES: &[Rule] = &[
    rule(
        "BARRIER_CTA_{ARRIVE,SYNC}{,_ALIGNED}_{ii,ir,ri,rr} BARRIER_CTA_SYNC{,_ALIGNED}_ALL_{i,r} \
         BARRIER_CTA_RED_{AND,OR,POPC}{,_ALIGNED}_ALL_{ip,rp} \
         BARRIER_CTA_RED_{AND,OR,POPC}_{ALIGNED,COUNT}_{iip,irp,rip,rrp} \
         barrier_cluster_{arrive,arrive_relaxed,wait}{,_aligned} INT_BAR_WARP_SYNC_{I,R}",
        OPAQUE.collective(),
    ),
    rule(
        "VOTE_SYNC_{ALL,ANY,BALLOT,UNI}{i,r} MATCH_{ALLP,ANY}_SYNC_{32,64}{ii,ir,ri,rr} INT_ELECT_SYNC_{I,R}",
        EXCHANGE,
    ),
    // Depends on its position, like a barrier.
    rule("ACTIVEMASK", OPAQUE.collective()),
    rule(
        "atomic_thread_fence_{seq_cst,acq_rel,acquire,release}_{sys,gpu,cluster,cta} INT_MEMBAR_{CTA,GL,SYS} \
         INT_FENCE_SC_CLUSTER INT_FENCE_MBARRIER_INIT_RELEASE_CLUSTER INT_FENCE_ACQUIRE_SYNC_RESTRICT_CLUSTER_CLUSTER \
         INT_FENCE_RELEASE_SYNC_RESTRICT_CTA_CLUSTER \
         INT_FENCE_PROXY_TENSORMAP_GENERIC_{ACQUIRE,RELEASE}_{CTA,CLUSTER,GPU,SYS} \
         INT_NVVM_FENCE_PROXY_ASYNC_GENERIC_ACQUIRE_SYNC_RESTRICT_SPACE_CLUSTER_SCOPE_CLUSTER \
         INT_NVVM_FENCE_PROXY_ASYNC_GENERIC_RELEASE_SYNC_RESTRICT_SPACE_CTA_SCOPE_CLUSTER",
        OPAQUE,
    ),
    rule(
        "MBARRIER_{INIT,INVAL,TEST_WAIT}{,_SHARED} MBARRIER_ARRIVE{,_DROP}{,_NOCOMPLETE}{,_SHARED} \
         mbar_arrive{,_drop}{,_expect_tx}scope_{cta,cluster}_{relaxed,release}_{CTA,CLUSTER} \
         mbar_{complete,expect}_tx_scope_{cta,cluster}_space_{cta,cluster} \
         mbar_{test_wait,try_wait}_scope_{cta,cluster}_{acquire,relaxed}_{PARITY,STATE} \
         mbar_try_wait_scope_{cta,cluster}_tl_{acquire,relaxed}_{PARITY,STATE} \
         CP_ASYNC_MBARRIER_ARRIVE{,_NOINC}{,_SHARED}",
        OPAQUE.within(Shared),
    ),
    // Reads the state of a barrier from a register, not from the barrier.
    rule("MBARRIER_PENDING_COUNT", OpcodeInfo::PURE),
    rule(
        "CP_ASYNC_COMMIT_GROUP CP_ASYNC_WAIT_{ALL,GROUP} CP_ASYNC_BULK_COMMIT_GROUP CP_ASYNC_BULK_WAIT_GROUP{,_READ}",
        OPAQUE,
    ),
    rule("GRIDDEPCONTROL_{LAUNCH_DEPENDENTS,WAIT} CLUSTERLAUNCHCONTRL_TRY_CANCEL{,_MULTICAST}", OPAQUE),
    // Decode a response in registers. The result of the second opcode is defined only if the first returns true.
    rule("CLUSTERLAUNCHCONTROL_QUERY_CANCEL_IS_CANCELED", OpcodeInfo::PURE),
    rule("CLUSTERLAUNCHCONTROL_QUERY_CANCEL_GET_FIRST_CTAID_{x,y,z}", OpcodeInfo::PURE.guarded()),
    rule("INT_NVVM_NANOSLEEP_{I,R} INT_PM_EVENT_MASK INT_NVVM_COMPILER_{ERROR,WARN}_{32,64}", OPAQUE),
];
