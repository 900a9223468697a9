//! The symbolic checker: proves from view and edits alone that a change keeps the meaning.
