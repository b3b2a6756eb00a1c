//! Everything the library promises, in one program: the kernels are compiled for the tests once.

mod accuracy;
mod adversarial;
mod collector;
mod conformance;
mod constants;
mod determinism;
mod estimates;
mod golden;
mod properties;
mod reference;
mod references;
mod verdicts;
mod worst_case;
