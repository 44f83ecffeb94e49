//! Gives this build an id: the sources that make the daemon, hashed. Two builds of the same sources have the same one,
//! wherever they were made; hooksctl computes it alike, so it knows whether the daemon that runs is the one it came
//! with.

include!("build_id.rs");

fn main() {
    announce();
}
