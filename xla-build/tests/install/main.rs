//! Finding and installing, against a package index on this machine; no test reaches further.

mod check;
mod concurrency;
mod download;
mod elf;
mod order;
mod refusals;
mod server;
mod setup;
