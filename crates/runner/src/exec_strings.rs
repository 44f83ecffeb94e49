//! The strings of a job as the kernel wants them: terminated by NUL, and without one inside.

use std::ffi::{CStr, CString, OsStr};

use crate::environment::{Mark, RUN_VARIABLE, nul, pair};
use crate::job::{Job, Program};

/// The shell of every shell-form handler, on every system.
pub(crate) const SHELL: &str = "/bin/sh";

/// Arguments and environment of one job.
#[derive(Debug)]
pub(crate) struct ExecStrings<'a> {
    /// The program's name as written: `argv[0]`.
    pub(crate) name: String,
    /// All arguments, the name included.
    pub(crate) argv: Vec<CString>,
    job: &'a Job,
    mark: &'a Mark,
    /// The handler's own variables as `NAME=value`.
    overlay: Vec<CString>,
}

impl<'a> ExecStrings<'a> {
    /// Builds them; the error says where a NUL is, for people.
    pub(crate) fn new(job: &'a Job, mark: &'a Mark) -> Result<ExecStrings<'a>, String> {
        let (name, argv) = match &job.program {
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
        if let Some(fault) = job.template.env.fault() {
            return Err(fault.to_owned());
        }
        let overlay = job.overlay.iter().map(|(name, value)| pair(name, value)).collect::<Result<_, _>>()?;
        Ok(ExecStrings { name, argv, job, mark, overlay })
    }

    /// The environment as `NAME=value`: what is shared, the handler's own, the run's mark.
    pub(crate) fn envp(&self) -> Vec<&CStr> {
        let mut anew: Vec<&OsStr> = self.job.overlay.iter().map(|(name, _)| name.as_os_str()).collect();
        anew.push(OsStr::new(RUN_VARIABLE));
        let mut envp: Vec<&CStr> = self.job.template.env.without(anew).collect();
        envp.extend(self.overlay.iter().map(CString::as_c_str));
        envp.push(self.mark.as_c_str());
        envp
    }

    /// Bytes that the kernel counts: strings with their terminators and the pointers to them.
    pub(crate) fn size(&self) -> usize {
        self.lengths().map(|length| length + size_of::<usize>()).sum()
    }

    /// The longest string, terminator included, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.lengths().max().unwrap_or(0)
    }

    fn lengths(&self) -> impl Iterator<Item = usize> {
        let argv = self.argv.iter().map(|word| word.as_bytes_with_nul().len());
        argv.chain(self.envp().into_iter().map(|pair| pair.to_bytes_with_nul().len()))
    }
}

/// The `PATH` of the handler's environment.
pub(crate) fn search_path(job: &Job) -> Option<&OsStr> {
    let own = job.overlay.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    own.or_else(|| job.template.env.get("PATH"))
}

fn c_string(word: &str) -> Result<CString, String> {
    CString::new(word).map_err(|_| nul(&format!("the argument {word:?}")))
}
