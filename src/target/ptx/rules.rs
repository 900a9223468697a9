//! The table of mnemonics and their meanings. Names and order are as in the PTX ISA 9.0, section 9.7.
//!
//! A name matches every mnemonic that begins with its words; the longest matching name counts. Costs of
//! rematerialisation, and forms for the uniform datapath, are the same as for LLVM's opcodes.

use super::super::info::{OpcodeInfo, Purity};
use super::{Control, Meaning, Writes};
use crate::function::MemorySpace::{self, Constant, Global, Shared, SharedCluster, Tensor};

pub(super) struct Rule {
    /// Patterns, separated by blanks.
    pub(super) names: &'static str,
    pub(super) meaning: Meaning,
}

const fn rule(names: &'static str, writes: Writes, info: OpcodeInfo) -> Rule {
    Rule { names, meaning: Meaning::new(info, writes) }
}

const fn control(names: &'static str, control: Control, purity: Purity) -> Rule {
    let writes = if matches!(control, Control::Call) { Writes::Call } else { Writes::Nothing };
    Rule { names, meaning: Meaning { control, ..Meaning::new(OpcodeInfo::other(purity), writes) } }
}

const fn asynchronous(names: &'static str, writes: Writes, info: OpcodeInfo) -> Rule {
    Rule { names, meaning: Meaning { is_asynchronous: true, ..Meaning::new(info, writes) } }
}

const fn wait(names: &'static str, info: OpcodeInfo) -> Rule {
    Rule { names, meaning: Meaning { is_wait: true, ..Meaning::new(info, Nothing) } }
}

use Writes::{First, FirstIfRegister, FirstTwo, Nothing, Updates};

const PURE: OpcodeInfo = OpcodeInfo::PURE;
const UNIFORM: OpcodeInfo = OpcodeInfo::PURE.with_uniform_form();
const OPAQUE: OpcodeInfo = OpcodeInfo::other(Purity::Opaque);
const EXCHANGE: OpcodeInfo = OpcodeInfo::other(Purity::Exchange).collective();
const READS: OpcodeInfo = OpcodeInfo::other(Purity::Reads);
const WRITES: OpcodeInfo = OpcodeInfo::other(Purity::Writes);
const READS_AND_WRITES: OpcodeInfo = OpcodeInfo::other(Purity::ReadsAndWrites);
const ATOMIC: OpcodeInfo = OpcodeInfo::other(Purity::Atomic);
const TENSOR: OpcodeInfo = OPAQUE.collective().within(Tensor);

const fn opaque(space: MemorySpace) -> OpcodeInfo {
    OPAQUE.within(space)
}

const ARITHMETIC: &[Rule] = &[
    rule("{add,sub}.{s,u}{16,32} mul.wide.{s,u}32", First, UNIFORM.remat(1)),
    rule("{add,sub}.{s,u}64 mad.wide.{s,u}32", First, UNIFORM.remat(2)),
    rule(
        "mul.{lo,hi}.{s,u}{16,32,64} mul.wide.{s,u}16 mad.lo.{s,u}{16,32,64} mad.wide.{s,u}16 neg.s{16,32,64}",
        First,
        UNIFORM,
    ),
    rule("mad.hi mul24 mad24 sad {add,sub,mul,mad,fma,neg} {div,rem,abs,min,max} dp4a dp2a fns", First, PURE),
    rule("popc clz bfind brev bfe bfi szext bmsk", First, UNIFORM),
    // The view does not show the carry flag. These instructions keep their order with all instructions that may access
    // the carry flag.
    rule("{add,sub,mad.lo,mad.hi}.cc addc subc madc", First, OPAQUE.propagating()),
    rule("testp copysign {rcp,sqrt,rsqrt,sin,cos,lg2,ex2,tanh}", First, PURE),
    rule("set slct", First, PURE),
    rule("setp", First, PURE),
    rule(
        "setp.{eq,ne}.{b,s,u}{16,32,64} setp.{lt,le,gt,ge}.{s,u}{16,32,64} setp.{lo,ls,hi,hs}.u{16,32,64}",
        First,
        UNIFORM,
    ),
    rule("selp", First, UNIFORM),
    rule("{and,or,xor}.{b16,b32} not.{b16,b32} shl.b32 shr.{b,s,u}32", First, UNIFORM.remat(1)),
    rule("{and,or,xor,not}.b64 shl.b64 shr.{b,s,u}64", First, UNIFORM.remat(2)),
    rule("{and,or,xor,not} cnot lop3 shf {shl,shr} prmt", First, UNIFORM),
    rule("cvt cvta isspacep mapa getctarank createpolicy istypep", First, PURE),
    rule("{vadd,vsub,vabsdiff,vmin,vmax,vset}{,2,4} vavrg{2,4} vshl vshr vmad", First, PURE),
];

const MEMORY: &[Rule] = &[
    rule("mov", First, PURE),
    rule("ld", First, READS),
    rule("ld.global.nc ldu", First, OpcodeInfo::other(Purity::ReadsInvariant).within(Global)),
    rule("st st.bulk", Nothing, WRITES),
    rule("st.async red.async", Nothing, opaque(SharedCluster)),
    rule("multimem.ld_reduce", First, READS.within(Global)),
    rule("multimem.{st,red}", Nothing, READS_AND_WRITES.within(Global)),
    rule("multimem.cp", Nothing, OPAQUE),
    rule("atom", First, ATOMIC),
    rule("red", Nothing, ATOMIC),
    // Hints to the caches: kept, and kept in order with writes.
    rule("prefetch prefetchu applypriority", Nothing, READS_AND_WRITES),
    // Destroys the data of the line.
    rule("discard", Nothing, OPAQUE),
    rule("cp.async", Nothing, READS_AND_WRITES),
    rule("cp.async.{commit_group,wait_group,wait_all,mbarrier} cp.reduce", Nothing, OPAQUE),
    rule("cp.async.bulk.{tensor,commit_group,wait_group} cp.async.bulk.prefetch.tensor", Nothing, OPAQUE),
    rule("tensormap.replace", Nothing, READS_AND_WRITES),
    rule("tensormap.cp_fenceproxy", Nothing, OPAQUE.collective()),
    rule("stacksave alloca", First, OPAQUE),
    rule("stackrestore", Nothing, OPAQUE),
    // A texture may be a surface that the kernel writes, so a fetch is not an invariant load.
    rule("tex tld4 suld", First, READS.within(Global)),
    rule("sust", Nothing, WRITES.within(Global)),
    rule("sured", Nothing, ATOMIC.within(Global)),
    rule("txq suq", First, PURE.guarded()),
];

const CONTROL: &[Rule] = &[
    control("bra", Control::Branch, Purity::Terminator),
    control("brx", Control::IndexedBranch, Purity::Terminator),
    control("ret", Control::End, Purity::Terminator),
    control("exit", Control::End, Purity::Trap),
    control("trap brkpt", Control::Next, Purity::Trap),
    control("call", Control::Call, Purity::Call),
];

const SYNCHRONIZATION: &[Rule] = &[
    rule("{bar,barrier}{,.cta} barrier.cluster", Nothing, OPAQUE.collective()),
    rule("{bar,barrier}{,.cta}.red", First, OPAQUE.collective()),
    rule("membar fence griddepcontrol nanosleep pmevent", Nothing, OPAQUE),
    rule("setmaxnreg", Nothing, OPAQUE.collective()),
    rule("shfl vote match redux elect", First, EXCHANGE),
    // Depends on its position, like a barrier.
    rule("activemask", First, OPAQUE.collective()),
    rule("mbarrier.{init,inval,expect_tx,complete_tx}", Nothing, opaque(Shared)),
    rule("mbarrier.{arrive,arrive_drop}", FirstIfRegister, opaque(Shared)),
    rule("mbarrier.{test_wait,try_wait}", First, opaque(Shared)),
    // Reads the state of a barrier from a register, not from the barrier.
    rule("mbarrier.pending_count", First, PURE),
    rule("clusterlaunchcontrol.try_cancel", Nothing, OPAQUE),
    rule("clusterlaunchcontrol.query_cancel.is_canceled", First, PURE),
    rule("clusterlaunchcontrol.query_cancel", First, PURE.guarded()),
];

const MATRIX: &[Rule] = &[
    rule("wmma.load", First, READS.collective()),
    rule("wmma.store", Nothing, WRITES.collective()),
    rule("wmma.mma mma movmatrix", First, EXCHANGE),
    rule("ldmatrix", First, READS.collective().within(Shared)),
    rule("stmatrix", Nothing, WRITES.collective().within(Shared)),
    asynchronous("wgmma.mma_async", Updates, OPAQUE.collective()),
    rule("wgmma.fence wgmma.commit_group", Nothing, OPAQUE.collective()),
    wait("wgmma.wait_group", OPAQUE.collective()),
    rule("tcgen05", Nothing, TENSOR),
    asynchronous("tcgen05.ld", First, TENSOR),
    asynchronous("tcgen05.ld.red", FirstTwo, TENSOR),
    asynchronous("tcgen05.st", Nothing, TENSOR),
    wait("tcgen05.wait::{ld,st}", TENSOR),
];

/// Mnemonics with a memory space in their name.
const SPECIAL: &[Rule] = &[rule("ld.const", First, READS.within(Constant).propagating())];

/// All rules. No name is in two rules.
pub(super) const RULES: [&[Rule]; 6] = [ARITHMETIC, MEMORY, CONTROL, SYNCHRONIZATION, MATRIX, SPECIAL];
