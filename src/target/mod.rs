//! What is known of the target: opcodes, register classes.
