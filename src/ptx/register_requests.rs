//! Changes that kernels make to their register count at run time: `setmaxnreg`.

use super::body::Body;
use super::module::Module;
use super::parts::{Operand, Parts};
use super::statement::{Statement, StatementKind};
use crate::target::machine::{RegisterRequests, Repartition};
use crate::target::repartition_of;

/// The value of a request whose number cannot be read. No request asks for more.
const MOST: Repartition = Repartition::Increase(256);

impl Module<'_> {
    /// Returns the requests of a kernel with its bounds. If the kernel calls any function, the requests of all device
    /// functions of the file are included. `None` for a function that is no kernel, and if there are no requests.
    /// O(statements).
    pub fn register_requests(&self, kernel: &Body) -> Option<RegisterRequests> {
        let bounds = kernel.launch_bounds(self.file())?;
        let mut requests = Vec::new();
        let calls = self.read_requests(kernel, &mut requests);
        let functions = self.bodies().iter().filter(|body| calls && body.launch_bounds(self.file()).is_none());
        for function in functions {
            self.read_requests(function, &mut requests);
        }
        (!requests.is_empty()).then_some(RegisterRequests { requests, bounds })
    }

    /// Adds the requests of one body. Returns whether the body calls any function.
    fn read_requests(&self, body: &Body, requests: &mut Vec<Repartition>) -> bool {
        let (file, mut calls) = (self.file(), false);
        let instructions = body.ids().filter(|&id| file.statements().kind(id) == StatementKind::Instruction);
        for statement in instructions {
            match file.first_word(statement) {
                "call" => calls = true,
                "setmaxnreg" => requests.push(self.read_request(statement).unwrap_or(MOST)),
                _ => {}
            }
        }
        calls
    }

    fn read_request(&self, statement: Statement) -> Option<Repartition> {
        let Some(Parts::Instruction(instruction)) = self.file().parts(statement) else { return None };
        let text = self.file().text();
        match instruction.operands.first()? {
            Operand::Number(number) => {
                repartition_of(&instruction.mnemonic(text), text.str(number.digits).parse().ok()?)
            }
            _ => None,
        }
    }
}
