//! Lets `hooksctl` start faster: agents start it for every event, and what is linked at start is most of what it costs.
//!
//! On Linux with glibc the unwinder becomes part of the program instead of a second shared library, and the program
//! has a fixed address, so that nothing has to be relocated. Where the compiler has no static unwinder nothing changes.

use std::path::Path;

#[allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "cargo is told by stdout; the runner is not built yet"
)]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    if !is_native || variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        return;
    }
    if variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static") {
        return;
    }
    let asked = std::process::Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let Ok(Ok(path)) = asked.map(|asked| String::from_utf8(asked.stdout)) else { return };
    // The compiler repeats the bare name when it has none.
    if let Some(folder) = Path::new(path.trim()).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:+whole-archive=gcc_eh");
        println!("cargo:rustc-link-arg-bin=hooksctl=-no-pie");
    }
}
