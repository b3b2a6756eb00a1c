//! Writes the sorting networks that `kernels/networks.rs` includes.
//!
//! A network of min/max exchanges without branches sorts N vectors of lanes at once. Unrolled with constant
//! indices the compiler keeps the values in registers and drops every exchange whose result is never read, so
//! one generated sort serves both the full order and the median. Above `LARGEST` the registers are long
//! exhausted and the run-time table in `networks.rs` is as good.

use std::{env, fmt::Write, fs, path::Path};

const LARGEST: usize = 32;

#[path = "src/kernels/merge_exchange.rs"]
mod merge_exchange;
use merge_exchange::merge_exchange;

fn main() {
    let mut code = format!(
        "/// Largest size with an unrolled network.\npub(crate) const UNROLLED: usize = {LARGEST};\n"
    );
    let mut arms = String::new();
    for n in 2..=LARGEST {
        let mut body = String::new();
        let exchanges = merge_exchange(n);
        for (step, &(i, j)) in exchanges.iter().enumerate() {
            let uses =
                |row: usize, steps: &[(usize, usize)]| steps.iter().any(|&(i, j)| i == row || j == row);
            for row in [i, j].into_iter().filter(|&row| !uses(row, &exchanges[..step])) {
                let _ = write!(body, "let v{row} = load({row});");
            }
            let _ = write!(body, "let (v{i}, v{j}) = (v{i}.min(v{j}), v{i}.max(v{j}));");
            for row in [i, j].into_iter().filter(|&row| !uses(row, &exchanges[step + 1..])) {
                let _ = write!(body, "store({row}, v{row});");
            }
        }
        let _ = writeln!(
            code,
            "impl Network<{n}> for Sorter {{ #[inline(always)] fn sort<L: Lanes>(mut load: impl FnMut(usize) -> L, mut store: impl FnMut(usize, L)) {{ {body} }} }}"
        );
        let _ = write!(arms, "{n} => $run!({n}),");
    }
    let _ = writeln!(
        code,
        "macro_rules! with_network {{ ($n:expr, $run:ident) => {{ match $n {{ {arms} _ => unreachable!(\"no unrolled network\") }} }} }}\npub(crate) use with_network;"
    );
    let target = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&target).join("networks.rs"), code).expect("the build directory is writable");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/kernels/merge_exchange.rs");
}
