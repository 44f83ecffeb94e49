//! What a warm process was started for. Two events share a process only when all of it is the same.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use crate::rlimits::Rlimits;

/// An environment that many keys share. Compared by its content, which is looked at only when it is not the same
/// object; hashed once.
#[derive(Debug, Clone)]
pub struct Variables {
    inner: Arc<Hashed>,
}

#[derive(Debug)]
struct Hashed {
    hash: u64,
    list: Vec<(OsString, OsString)>,
}

impl Variables {
    /// Shares a list. Order counts.
    #[must_use]
    pub fn new(list: Vec<(OsString, OsString)>) -> Variables {
        let mut hasher = DefaultHasher::new();
        list.hash(&mut hasher);
        Variables { inner: Arc::new(Hashed { hash: hasher.finish(), list }) }
    }

    /// The list.
    #[must_use]
    pub fn list(&self) -> &[(OsString, OsString)] {
        &self.inner.list
    }
}

impl PartialEq for Variables {
    fn eq(&self, other: &Variables) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
            || (self.inner.hash == other.inner.hash && self.inner.list == other.inner.list)
    }
}

impl Eq for Variables {}

impl Hash for Variables {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash.hash(state);
    }
}

/// What a warm process was started for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The snapshot's id: another configuration means another process.
    pub snapshot: String,
    /// The handler's id in it.
    pub handler: String,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its environment, without the plugin's overlay, which the handler implies.
    pub variables: Variables,
    /// Its file mode mask.
    pub umask: Option<u32>,
    /// Its resource limits.
    pub rlimits: Rlimits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_compared_by_content() {
        let list = |value: &str| Variables::new(vec![("A".into(), value.into())]);
        assert_eq!(list("1"), list("1"));
        assert_ne!(list("1"), list("2"));
    }
}
