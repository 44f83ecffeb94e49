//! The environment of handlers, made once for all handlers of an event, and the mark that tells one run's
//! processes from everybody else's.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::LazyLock;

use uuid::Uuid;

/// The variable that marks every process of a run. Its value is unguessable, so that no handler can have its
/// neighbour's processes killed in its place.
pub const RUN_VARIABLE: &str = "HOOKSD_RUN";

/// Variables, ready for the kernel and shared between the runs that have them.
#[derive(Debug)]
pub struct Environment {
    ready: LazyLock<Ready, Box<dyn FnOnce() -> Ready + Send>>,
}

#[derive(Debug, Default)]
struct Ready {
    pairs: Vec<CString>,
    /// Why no program can be given these, for people.
    fault: Option<String>,
}

impl Environment {
    /// An environment that is made for the first process that needs it: handlers whose process is there already need
    /// none.
    #[must_use]
    pub fn later<T>(variables: impl FnOnce() -> T + Send + 'static) -> Environment
    where
        T: IntoIterator<Item = (OsString, OsString)>,
    {
        Environment { ready: LazyLock::new(Box::new(|| Ready::of(variables()))) }
    }

    /// Whether the variable at hand is one of these.
    fn is(pair: &CStr, name: &OsStr) -> bool {
        pair.to_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.ready.fault.as_deref()
    }

    /// The value of a variable; the first counts, as for getenv.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        let pair = self.ready.pairs.iter().find(|pair| Environment::is(pair, OsStr::new(name)))?;
        pair.as_bytes().get(name.len() + 1..).map(OsStr::from_bytes)
    }

    /// All but those that are set anew.
    pub(crate) fn without<'a>(&'a self, names: Vec<&'a OsStr>) -> impl Iterator<Item = &'a CStr> {
        let pairs = self.ready.pairs.iter().map(CString::as_c_str);
        pairs.filter(move |pair| !names.iter().any(|name| Environment::is(pair, name)))
    }
}

impl Default for Environment {
    fn default() -> Environment {
        Environment::from_iter([])
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(variables: T) -> Environment {
        let ready = Ready::of(variables);
        Environment { ready: LazyLock::new(Box::new(|| ready)) }
    }
}

impl Ready {
    fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Ready {
        let mut ready = Ready::default();
        for (name, value) in variables {
            match pair(&name, &value) {
                Ok(pair) => ready.pairs.push(pair),
                Err(fault) => ready.fault = Some(fault),
            }
        }
        ready
    }
}

/// `NAME=value`; the error says where a NUL is, for people.
pub(crate) fn pair(name: &OsStr, value: &OsStr) -> Result<CString, String> {
    let pair = [name.as_bytes(), b"=", value.as_bytes()].concat();
    CString::new(pair).map_err(|_| nul(&format!("the environment variable {name:?}")))
}

/// A string that no program can be given.
pub(crate) fn nul(what: &str) -> String {
    format!("{what} has a NUL character (U+0000) in it, which no program can be given: remove it")
}

/// What marks one run: a string of the environment of its handler, inherited by whatever that starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(CString);

impl Mark {
    /// One that nobody has had.
    pub(crate) fn new() -> Mark {
        let id = Uuid::new_v4().simple().to_string();
        // Neither has a NUL in it; an empty mark would mark nothing.
        Mark(pair(OsStr::new(RUN_VARIABLE), &OsString::from_vec(id.into_bytes())).unwrap_or_default())
    }

    /// The mark in another process's environment.
    #[cfg(target_os = "linux")]
    pub(crate) fn read(pair: Vec<u8>) -> Option<Mark> {
        CString::new(pair).ok().map(Mark)
    }

    /// `HOOKSD_RUN=<id>`
    pub(crate) fn as_c_str(&self) -> &CStr {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    #[test]
    fn variables_are_found_by_their_whole_name_and_left_out_by_it() {
        let environment = environment(&[("PATHS", "x"), ("PATH", "/a=b"), ("PATH", "/c"), ("E", "")]);
        assert_eq!(environment.get("PATH"), Some(OsStr::new("/a=b")));
        assert_eq!(environment.get("E"), Some(OsStr::new("")));
        assert_eq!(environment.get("PAT"), None);
        let kept: Vec<_> = environment.without(vec![OsStr::new("PATH")]).map(CStr::to_bytes).collect();
        assert_eq!(kept, [&b"PATHS=x"[..], b"E="]);
    }

    #[test]
    fn a_nul_is_a_fault_that_names_the_variable() {
        let environment = environment(&[("A", "b"), ("BAD", "x\0y")]);
        let fault = environment.fault().unwrap();
        assert!(fault.starts_with("the environment variable \"BAD\" has a NUL character"), "{fault}");
    }

    #[test]
    fn an_environment_is_made_when_it_is_needed_and_once() {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = made.clone();
        let environment = Environment::later(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            [(OsString::from("A"), OsString::from("b"))]
        });
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert_eq!((environment.get("A"), environment.fault()), (Some(OsStr::new("b")), None));
        assert_eq!((environment.get("B"), made.load(Ordering::Relaxed)), (None, 1));
    }

    #[test]
    fn no_two_marks_are_the_same() {
        let mark = Mark::new();
        assert_ne!(mark, Mark::new());
        assert_eq!(mark.as_c_str().to_bytes().len(), RUN_VARIABLE.len() + 1 + 32);
    }
}
