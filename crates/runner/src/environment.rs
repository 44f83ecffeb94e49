//! The environment of handlers, made once for all handlers of an event, and the mark that tells one run's
//! processes from everybody else's.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use uuid::Uuid;

/// The variable that marks every process of a run. Its value is unguessable, so that no handler can have its
/// neighbour's processes killed in its place.
pub const RUN_VARIABLE: &str = "HOOKSD_RUN";

/// Variables, ready for the kernel and shared between the runs that have them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pairs: Vec<CString>,
    /// Why no program can be given these, for people.
    fault: Option<String>,
}

impl Environment {
    /// Whether the variable at hand is one of these.
    fn is(pair: &CStr, name: &OsStr) -> bool {
        pair.to_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The value of a variable; the first counts, as for getenv.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        let pair = self.pairs.iter().find(|pair| Environment::is(pair, OsStr::new(name)))?;
        pair.as_bytes().get(name.len() + 1..).map(OsStr::from_bytes)
    }

    /// All but those that are set anew.
    pub(crate) fn without<'a>(&'a self, names: Vec<&'a OsStr>) -> impl Iterator<Item = &'a CStr> {
        let pairs = self.pairs.iter().map(CString::as_c_str);
        pairs.filter(move |pair| !names.iter().any(|name| Environment::is(pair, name)))
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(variables: T) -> Environment {
        let mut environment = Environment::default();
        for (name, value) in variables {
            match pair(&name, &value) {
                Ok(pair) => environment.pairs.push(pair),
                Err(fault) => environment.fault = Some(fault),
            }
        }
        environment
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
        let fault = environment(&[("A", "b"), ("BAD", "x\0y")]).fault.unwrap();
        assert!(fault.starts_with("the environment variable \"BAD\" has a NUL character"), "{fault}");
    }

    #[test]
    fn no_two_marks_are_the_same() {
        let mark = Mark::new();
        assert_ne!(mark, Mark::new());
        assert_eq!(mark.as_c_str().to_bytes().len(), RUN_VARIABLE.len() + 1 + 32);
    }
}
