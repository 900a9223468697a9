//! Programs as text, run and compared.
