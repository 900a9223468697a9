//! The code that computes the addresses of slots, as PTX statements.
//!
//! ptxas promotes local memory to registers if it knows every address. To hide the addresses, the code adds a value of
//! 0 that ptxas cannot determine: a grid has less than 2^16 blocks in z. The array is separate from the stack frame,
//! because accesses to the frame would otherwise have unknown addresses as well.

/// Returns the dimensions of every block of a kernel from up to three numbers of `.reqntid`. `None` if the numbers do
/// not prove the dimensions. `.maxntid` proves only a bound of their product.
pub fn block_shape<'a>(sizes: impl IntoIterator<Item = &'a str>) -> Option<[u32; 3]> {
    let mut shape = [1; 3];
    for (number, size) in sizes.into_iter().enumerate() {
        let is_number = size.bytes().all(|byte| byte.is_ascii_digit());
        *shape.get_mut(number)? = size.parse().ok().filter(|&size: &u32| is_number && size > 0)?;
    }
    Some(shape)
}

/// Returns the declaration of an array.
pub(crate) fn declaration(space: &str, align: u64, name: &str, bytes: u64) -> String {
    format!(".{space} .align {align} .b8 {name}[{bytes}];")
}

/// Computes the address of an array in local memory. `scratch` is a prefix of register names that no other register
/// has.
pub(crate) fn local_address(scratch: &str, array: &str, address: &str) -> Vec<String> {
    vec![
        format!("{{ .reg .b32 {scratch}<2>;"),
        format!("mov.u32 {scratch}0, %nctaid.z;"),
        format!("shr.u32 {scratch}0, {scratch}0, 16;"),
        format!("mov.u32 {scratch}1, {array};"),
        format!("add.u32 {address}, {scratch}1, {scratch}0;"),
        "}".to_owned(),
    ]
}

/// Computes the addresses of this thread's rows in an array in shared memory: the array's address, plus the thread's
/// number times the bytes of a row. Each row size has its own address register.
pub(crate) fn shared_addresses<'a>(
    scratch: &str,
    array: &str,
    shape: Option<[u32; 3]>,
    addresses: impl IntoIterator<Item = (u32, &'a str)>,
) -> Vec<String> {
    let mut code = vec![format!("{{ .reg .b32 {scratch}<4>;")];
    thread_number(scratch, shape, &mut code);
    code.push(format!("mov.u32 {scratch}3, {array};"));
    for (row, address) in addresses {
        code.push(format!("mad.lo.u32 {address}, {scratch}0, {row}, {scratch}3;"));
    }
    code.push("}".to_owned());
    code
}

/// Computes the thread's number in its block into the first scratch register: (z * ysize + y) * xsize + x.
fn thread_number(scratch: &str, shape: Option<[u32; 3]>, code: &mut Vec<String>) {
    let has_z = shape.is_none_or(|shape| shape[2] > 1);
    let has_y = has_z || shape.is_none_or(|shape| shape[1] > 1);
    let outermost = match (has_z, has_y) {
        (true, _) => 'z',
        (_, true) => 'y',
        _ => 'x',
    };
    code.push(format!("mov.u32 {scratch}0, %tid.{outermost};"));
    for (dimension, name, has) in [(1, 'y', has_z), (0, 'x', has_y)] {
        if !has {
            continue;
        }
        let size = match shape {
            Some(shape) => shape[dimension].to_string(),
            None => {
                code.push(format!("mov.u32 {scratch}1, %ntid.{name};"));
                format!("{scratch}1")
            }
        };
        code.push(format!("mov.u32 {scratch}2, %tid.{name};"));
        code.push(format!("mad.lo.u32 {scratch}0, {scratch}0, {size}, {scratch}2;"));
    }
}
