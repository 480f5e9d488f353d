//! Graphs of StableHLO operations: recorded, checked, printed.
