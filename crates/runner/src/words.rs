//! The strings of a run as the kernel wants them: terminated by NUL, and without one inside.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use crate::run::{Program, Run};

/// The shell of every shell-form handler, on every system.
pub(crate) const SHELL: &str = "/bin/sh";

/// Arguments and environment of one run.
#[derive(Debug)]
pub(crate) struct Words {
    /// The program's name as written: `argv[0]`.
    pub(crate) name: String,
    /// All arguments, the name included.
    pub(crate) argv: Vec<CString>,
    /// The environment as `NAME=value`.
    pub(crate) envp: Vec<CString>,
}

impl Words {
    /// Builds them; the error says where a NUL is, for people.
    pub(crate) fn new(run: &Run) -> Result<Words, String> {
        let (name, argv) = match &run.program {
            Program::Shell(line) => {
                let line = CString::new(line.as_str()).map_err(|_| nul("the command"))?;
                (SHELL.to_owned(), vec![c_string(SHELL)?, c_string("-c")?, line])
            }
            Program::Argv(argv) => {
                let name = argv.first().cloned().unwrap_or_default();
                let argv = argv.iter().map(|word| c_string(word)).collect::<Result<_, _>>()?;
                (name, argv)
            }
        };
        let envp = run
            .env
            .iter()
            .map(|(name, value)| {
                let mut pair = Vec::with_capacity(name.len() + value.len() + 2);
                pair.extend_from_slice(name.as_bytes());
                pair.push(b'=');
                pair.extend_from_slice(value.as_bytes());
                CString::new(pair).map_err(|_| nul(&format!("the environment variable {name:?}")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Words { name, argv, envp })
    }

    /// Bytes that the kernel counts: strings with their terminators and the pointers to them.
    pub(crate) fn size(&self) -> usize {
        self.all().map(|word| word.as_bytes_with_nul().len() + size_of::<usize>()).sum()
    }

    /// The longest string, terminator included, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.all().map(|word| word.as_bytes_with_nul().len()).max().unwrap_or(0)
    }

    fn all(&self) -> impl Iterator<Item = &CString> {
        self.argv.iter().chain(&self.envp)
    }
}

/// The `PATH` of the handler's environment; the first counts, as for getenv.
pub(crate) fn search_path(run: &Run) -> Option<&OsStr> {
    run.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str())
}

fn c_string(word: &str) -> Result<CString, String> {
    CString::new(word).map_err(|_| nul(&format!("the argument {word:?}")))
}

fn nul(what: &str) -> String {
    format!("{what} has a NUL character (U+0000) in it, which no program can be given: remove it")
}
