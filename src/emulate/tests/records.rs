//! Launches that are recorded, and reasons why others are not.

use super::{file, program};
use crate::emulate::launch::Launches;
use crate::emulate::record::{Record, record};

fn recorded(body: &str) -> Result<Record, String> {
    let launches = Launches { grid: Some([2, 1, 1]), block: Some([32, 1, 1]), ..Launches::default() };
    record(&program(&file("", body)), "k", &launches)
}

#[test]
fn buffers_cover_what_is_touched_below_and_above_the_pointer() {
    let body = "ld.global.f32 %f1, [%in + -8]; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%at + 1024], %f1;";
    let record = recorded(body).expect("it can be recorded");
    let starts: Vec<(i64, usize)> = record.buffers.iter().map(|one| (one.start, one.before.len())).collect();
    assert_eq!(starts, [(1024, 256), (-256, 256)]);
    assert_eq!(record.parameters[0].pointers, [(0, 0)]);
    assert_eq!(record.parameters[1].pointers, [(0, 1)]);
    assert_eq!(record.parameters[2].pointers, []);
    let [run] = record.buffers[0].stored.as_slice() else { panic!("one run of values") };
    assert_eq!((run.offset, run.count, run.bytes), (0, 32, 4));
    let float = |bytes: &[u8], at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(float(&record.buffers[0].after, 4), float(&record.buffers[1].before, 248) + 1.0);
    assert_eq!(record.buffers[1].before, record.buffers[1].after);
}

#[test]
fn what_a_gpu_cannot_repeat_is_refused() {
    let cases = [
        ("ld.global.u64 %d1, [%in]; ld.global.u32 %r1, [%d1]; st.global.u32 [%at], %r1;", "no parameter points"),
        (
            "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 8; add.u64 %d1, %d1, %out; st.global.u64 [%d1], %in;",
            "stores an address",
        ),
        (
            "setp.eq.u32 %p1, %t, 0; mul.wide.u32 %d1, %t, 16777216; add.u64 %d1, %d1, %out; st.global.u32 [%d1], 1;",
            "its accesses span more than",
        ),
        ("mov.u32 %r1, 0f7FC00000; mov.b32 %f1, %r1; add.f32 %f1, %f1, %f1; st.global.f32 [%at], %f1;", "finite"),
    ];
    for (body, reason) in cases {
        let error = recorded(body).expect_err(body);
        assert!(error.contains(reason), "{body}: {error}");
    }
}
