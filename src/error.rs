//! Errors that reach the user.
