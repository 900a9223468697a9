//! Tests of the reference application.
