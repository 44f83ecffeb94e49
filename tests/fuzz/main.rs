//! What must hold for any bytes, on every file of the corpus, on what the recorded vectors have for it, and on a bounded
//! number of mutations of both: the same ones every time. `fuzz/` runs the same functions under libFuzzer, for as long
//! as one likes (CONTRIBUTING).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that fails to set up has failed"
)]

mod daemon;
mod mutate;
mod seeds;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hooksd_tests::fuzz::{TARGETS, Target, target};

use crate::mutate::Mutator;

/// How many mutations of each corpus are tried, unless `HOOKSD_FUZZ_MUTATIONS` says another number. Inputs.
const MUTATIONS: usize = 1_000;

/// The longest input of a mutation run. Bytes. Longer ones find the same things more slowly.
const MAX_INPUT: usize = 4096;

/// How long one input may take. Seconds. In a debug build, on a machine that is busy with other tests; what is bounded
/// takes milliseconds.
const PATIENCE_SECONDS: u64 = 20;

fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target.name)
}

/// The files of a corpus, in the order of their names.
fn files(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = fs::read_dir(corpus(target)).unwrap_or_else(|error| panic!("{}: {error}", target.name));
    let mut files: Vec<_> = folder
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Runs one input; what it is stands before the panic's own words in the test's output.
fn run(target: &Target, name: &str, data: &[u8]) {
    struct Told<'a>(&'a str, &'a str, &'a [u8]);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                println!("{}: {}: \"{}\"", self.0, self.1, self.2.escape_ascii());
            }
        }
    }
    let told = Told(target.name, name, data);
    let began = Instant::now();
    (target.run)(data);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(PATIENCE_SECONDS), "took {took:?}");
    drop(told);
}

fn replay(target: &Target) {
    let files = files(target);
    assert!(!files.is_empty(), "{} has an empty corpus", target.name);
    let seeds = seeds::of(target);
    assert!(!seeds.is_empty(), "no vector has anything for {}", target.name);
    for (name, data) in &files {
        run(target, name, data);
    }
    for (at, data) in seeds.iter().enumerate() {
        run(target, &format!("vector {at}"), data);
    }
    let mutations = match std::env::var("HOOKSD_FUZZ_MUTATIONS") {
        Ok(number) => number.parse().expect("HOOKSD_FUZZ_MUTATIONS is a number"),
        Err(_) => MUTATIONS,
    };
    let (counted, recorded) = (files.len(), seeds.len());
    let all = files.into_iter().map(|(_, data)| data).chain(seeds).collect();
    let mut mutator = Mutator::new(target, all, MAX_INPUT);
    for at in 0..mutations {
        run(target, &format!("mutation {at}"), &mutator.next());
    }
    println!("{}: {counted} files, {recorded} vectors, {mutations} mutations", target.name);
}

macro_rules! replays {
    ($($name:ident),* $(,)?) => {
        /// The targets that have a test here.
        const REPLAYED: &[&str] = &[$(stringify!($name)),*];

        mod corpus_of {
            $(#[test]
            fn $name() {
                crate::replay(crate::target(stringify!($name)));
            })*
        }
    };
}

replays!(
    frames, requests, json, documents, legacy, plugins, trust, settings, variables, outputs, decisions,
    stdin, matchers, secrets,
);

/// A target that is not replayed, has no program for the fuzzer, or a corpus without a target would go unnoticed.
#[test]
fn every_target_is_replayed_and_can_be_fuzzed() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, REPLAYED);
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(top.join("../fuzz/Cargo.toml")).unwrap();
    let programs: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .skip(1)
        .collect();
    assert_eq!(programs, names);
    for name in &names {
        let program = fs::read_to_string(top.join(format!("../fuzz/targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("target(\"{name}\")")), "{name}");
    }
    let mut folders: Vec<String> = fs::read_dir(top.join("fuzz/corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut sorted = names;
    sorted.sort_unstable();
    assert_eq!(folders, sorted);
}

/// Writes what the vectors have for each target to `HOOKSD_FUZZ_SEEDS/TARGET`, for the fuzzer to begin with.
#[test]
#[ignore = "writes files for cargo fuzz; see CONTRIBUTING"]
fn write_seeds() {
    let top = PathBuf::from(std::env::var("HOOKSD_FUZZ_SEEDS").expect("HOOKSD_FUZZ_SEEDS names a folder"));
    for target in &TARGETS {
        let folder = top.join(target.name);
        fs::create_dir_all(&folder).unwrap();
        for (at, seed) in seeds::of(target).iter().enumerate() {
            fs::write(folder.join(format!("vector-{at:04}")), seed).unwrap();
        }
        let words = target.words.0.iter().filter(|word| !word.is_empty());
        let line = |word: &str| word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
        let dictionary: String = words.map(|word| format!("\"{}\"\n", line(word))).collect();
        fs::write(top.join(format!("{}.dict", target.name)), dictionary).unwrap();
    }
}
