//! Gives this build an id, as the daemon's build does: hooksctl knows whether the daemon that runs is the one it came
//! with. And lets it start faster: agents start it for every event, and binding it to shared libraries costs half as
//! much again as the process itself.
//!
//! On Linux with glibc, where its static library is installed, released builds of this one program hold their own copy
//! and have a fixed address: nothing is loaded, searched or relocated. The flag that would say so holds for a whole
//! build, the daemon and the tests with it; so the linker is given scripts in the libraries' names instead. Where
//! anything is missing, the program is linked as usual.

include!("build_id.rs");

/// What the standard library wants of the system, apart from the C library itself, which holds all of it.
const PARTS_OF_LIBC: [&str; 5] = ["util", "rt", "pthread", "dl", "m"];

fn main() {
    announce();
    say("rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if !is_native || !is_glibc || is_static || variable("PROFILE") != "release" {
        return;
    }
    let scripts = PathBuf::from(variable("OUT_DIR")).join("static");
    if write_scripts(&scripts).is_some() {
        say(&format!("rustc-link-search=native={}", scripts.display()));
        say("rustc-link-arg-bin=hooksctl=-static");
        say("rustc-link-arg-bin=hooksctl=-no-pie");
    }
}

/// A linker script for each shared library the program would be bound to. `None` when a static one is missing.
fn write_scripts(folder: &Path) -> Option<()> {
    let [libc, unwinder, builtins] = [archive("libc.a")?, archive("libgcc_eh.a")?, archive("libgcc.a")?];
    fs::create_dir_all(folder).ok()?;
    let write = |name: &str, script: String| fs::write(folder.join(format!("lib{name}.so")), script).ok();
    write("c", format!("GROUP ( {libc} {unwinder} {builtins} )\n"))?;
    write("gcc_s", format!("INPUT ( {unwinder} )\n"))?;
    for name in PARTS_OF_LIBC {
        let script =
            archive(&format!("lib{name}.a")).map_or_else(String::new, |path| format!("INPUT ( {path} )\n"));
        write(name, script)?;
    }
    Some(())
}

/// Where the C compiler finds a static library.
#[allow(clippy::disallowed_methods, reason = "the runner is not there yet when this is built")]
fn archive(name: &str) -> Option<String> {
    let asked = std::process::Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    // The compiler repeats the bare name when it has none.
    (Path::new(&path).is_absolute() && !path.contains([' ', '"'])).then_some(path)
}

#[allow(clippy::print_stdout, reason = "this is how cargo is told")]
fn say(instruction: &str) {
    println!("cargo:{instruction}");
}
