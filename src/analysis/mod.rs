//! Analyses of the view: control flow, dominators, loops, liveness, live ranges, interval trees.
