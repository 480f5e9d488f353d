//! The binary `rectiflow`, run as people run it: real files, the real CPU plugin.

mod caching;
mod dtypes;
mod files;
mod inputs;
mod output;
mod plugins;
mod programs;
mod sandbox;
