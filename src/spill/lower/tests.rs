use super::addresses::block_shape;
use super::table::{
    OperandKind, by_number, llvm_names, number_of, operands_of, ptx_name, takes_number, takes_register,
};
use super::{lower, table};
use crate::function::{EditList, Function, LoweredEdit, MachineOp, RegClass};

/// `.reqntid` proves the shape of blocks only in some forms.
#[test]
fn shapes_of_blocks() {
    for (sizes, shape) in [
        (&["256"][..], Some([256, 1, 1])),
        (&["16", "8", "2"], Some([16, 8, 2])),
        (&["16", "8", "2", "1"], None),
        (&["0"], None),
        (&["+8"], None),
        (&[""], None),
        (&["16", "x"], None),
    ] {
        assert_eq!(block_shape(sizes.iter().copied()), shape, "{sizes:?}");
    }
}

/// Each instruction has one row, with a name for LLVM or for PTX, and takes the modifiers that the table fills in.
#[test]
fn the_table_agrees_with_itself() {
    for (number, name) in (0..).zip(llvm_names()) {
        let op = by_number(number).expect("a row");
        assert_eq!(number_of(op), Some(number), "{op:?} has two rows");
        assert!(ptx_name(op).is_some_and(|name| !name.is_empty()));
        assert_eq!(table::is_in_llvm(op), !name.is_empty());
        let of_128 = matches!(op, MachineOp::Load(moved) | MachineOp::Store(moved) if moved.class == RegClass::B128);
        assert_eq!(name.is_empty(), of_128, "LLVM moves 128 bits by halves: {op:?}");
        for (index, kind) in operands_of(op).into_iter().enumerate() {
            match kind {
                OperandKind::Write(class) | OperandKind::Read(class) => {
                    let is_write = kind == OperandKind::Write(class);
                    assert!(takes_register(op, index, class, is_write) && !takes_register(op, index, class, !is_write));
                    assert!(!takes_number(op, index, 0));
                }
                OperandKind::Number => assert!(takes_number(op, index, i64::MIN)),
                OperandKind::Mode(modes) => {
                    assert!(modes.iter().all(|&mode| takes_number(op, index, mode)) && !takes_number(op, index, 7));
                }
            }
        }
    }
    assert_eq!(by_number(llvm_names().len() as u32), None);
    let names: std::collections::BTreeSet<_> = llvm_names().filter(|name| !name.is_empty()).collect();
    assert_eq!(names.len() + 2, llvm_names().len(), "a name stands twice");
}

const FUNCTION: &str = "mfv 1
function \"k\"
kernel maxntid 256
opcode LOAD
opcode STORE
regs %0 B32 B32
bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read global
  %1 = LOAD 1 :: read global
  STORE %0, %1 :: write global
end
";

fn lowered(edits: &str, shape: Option<[u32; 3]>) -> Vec<LoweredEdit> {
    let function = Function::parse(FUNCTION).expect("a function");
    let edits = EditList::parse(&format!("function \"k\"\n{edits}\nend\n"), &function).expect("edits").expect("of it");
    lower(&function, &edits, shape).expect("the edits fit").unwrap_or_default()
}

/// The PTX code that computes addresses: for blocks of any shape and of known shapes, in shared and local memory.
#[test]
fn addresses() {
    let edits = "create-register %2 B32\ncreate-slot slot0 size 4 align 4\ncreate-shared-array threads 256 bytes 1040\n\
                 create-shared-slot slot1 size 4 offset 0\ninsert-spill i3 in bb0 before i2 %0 slot1\n\
                 insert-spill i4 in bb0 before i2 %0 slot0\ninsert-reload i5 in bb0 before i2 %2 slot1";
    let text = |shape| {
        let lowered = lowered(edits, shape);
        let text = lowered.iter().find_map(|edit| match edit {
            LoweredEdit::InsertAssembly { text, results, .. } => Some((text.clone(), results.len())),
            _ => None,
        });
        text.expect("addresses are computed")
    };
    let local = ".local .align 8 .b8 nvptx_ra_local[4];\n\t{ .reg .b32 %nvptx_ra<2>;\n\tmov.u32 %nvptx_ra0, %nctaid.z;\n\t\
                 shr.u32 %nvptx_ra0, %nvptx_ra0, 16;\n\tmov.u32 %nvptx_ra1, nvptx_ra_local;\n\t\
                 add.u32 $1, %nvptx_ra1, %nvptx_ra0;\n\t}";
    let whole = |number: &str| {
        let shared = ".shared .align 16 .b8 nvptx_ra_spills[1040];\n\t{ .reg .b32 %nvptx_ra<4>;\n\t";
        let address = "mov.u32 %nvptx_ra3, nvptx_ra_spills;\n\tmad.lo.u32 $0, %nvptx_ra0, 4, %nvptx_ra3;\n\t}\n\t";
        (format!("{shared}{number}\n\t{address}{local}"), 2)
    };
    let step = |size: &str, of: char| {
        format!("mov.u32 %nvptx_ra2, %tid.{of};\n\tmad.lo.u32 %nvptx_ra0, %nvptx_ra0, {size}, %nvptx_ra2;")
    };
    let asked = |of: char| format!("mov.u32 %nvptx_ra1, %ntid.{of};\n\t{}", step("%nvptx_ra1", of));
    let any = format!("mov.u32 %nvptx_ra0, %tid.z;\n\t{}\n\t{}", asked('y'), asked('x'));
    assert_eq!(text(None), whole(&any));
    assert_eq!(text(Some([256, 1, 1])), whole("mov.u32 %nvptx_ra0, %tid.x;"));
    assert_eq!(text(Some([16, 8, 1])), whole(&format!("mov.u32 %nvptx_ra0, %tid.y;\n\t{}", step("16", 'x'))));
    let deep = format!("mov.u32 %nvptx_ra0, %tid.z;\n\t{}\n\t{}", step("8", 'y'), step("16", 'x'));
    assert_eq!(text(Some([16, 8, 2])), whole(&deep));
}

/// Edits that concern no slot are not lowered, and edits that do not fit are refused.
#[test]
fn other_lists() {
    assert!(lowered("insert-copy i3 in bb0 before i2 %0 %1", None).is_empty());
    let function = Function::parse(FUNCTION).expect("a function");
    let text = "function \"k\"\ninsert-spill i3 in bb0 before i2 %0 slot0\nend\n";
    let edits = EditList::parse(text, &function).expect("edits").expect("of it");
    assert!(lower(&function, &edits, None).is_err_and(|error| error.reason.contains("there is no slot")));
}
