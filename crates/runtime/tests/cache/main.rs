//! The cache of executables, on the real CPU plugin.

mod child;
mod damage;
mod hits;
mod keys;
mod kills;
mod profiles;
mod programs;
mod runtimes;
mod sharing;
mod space;
mod warnings;
