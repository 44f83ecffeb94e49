//! What a warm process was started for. Two events share a process only when all of it is the same.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
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

/// What a warm process was started for. Cheap to clone, hashed once.
#[derive(Debug, Clone)]
pub struct Key {
    hash: u64,
    purpose: Arc<Purpose>,
}

impl From<Purpose> for Key {
    fn from(purpose: Purpose) -> Key {
        let mut hasher = DefaultHasher::new();
        purpose.hash(&mut hasher);
        Key { hash: hasher.finish(), purpose: Arc::new(purpose) }
    }
}

impl Deref for Key {
    type Target = Purpose;

    fn deref(&self) -> &Purpose {
        &self.purpose
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        Arc::ptr_eq(&self.purpose, &other.purpose)
            || (self.hash == other.hash && self.purpose == other.purpose)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// All that two events that share a process have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Purpose {
    /// The snapshot's id: another configuration means another process.
    pub snapshot: Arc<str>,
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
    fn keys_are_compared_by_all_that_they_are_for() {
        let purpose = |handler: &str, folder: &str, umask: Option<u32>| Purpose {
            snapshot: "s".into(),
            handler: handler.to_owned(),
            folder: folder.into(),
            variables: Variables::new(Vec::new()),
            umask,
            rlimits: Rlimits::default(),
        };
        let key = Key::from(purpose("h", "/", None));
        assert_eq!(key, purpose("h", "/", None).into());
        for other in [purpose("i", "/", None), purpose("h", "/a", None), purpose("h", "/", Some(0))] {
            assert_ne!(key, other.into());
        }
    }

    #[test]
    fn variables_are_compared_by_content() {
        let list = |value: &str| Variables::new(vec![("A".into(), value.into())]);
        assert_eq!(list("1"), list("1"));
        assert_ne!(list("1"), list("2"));
    }
}
