//! Golden, conformance and end-to-end tests of the workspace.
