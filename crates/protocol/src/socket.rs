//! Finds out where the daemon's socket is. The daemon, its clients and hooksctl ask here, so that they agree
//! (PROTOCOL, "Where").

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The longest path that the address of a Unix socket holds on this system, without the NUL at its end. Bytes
/// (unix(7)).
pub const MAX_SOCKET_PATH: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

/// The variable that names the socket itself.
pub const SOCKET_VARIABLE: &str = "HOOKSD_SOCKET";

/// The variable that names the folder of the user's hooks.json. Without it that is `~/.deepagents` (contract section
/// 4).
pub const CONFIG_DIR_VARIABLE: &str = "HOOKSD_CONFIG_DIR";

/// Why there is no usable socket path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketPathError {
    /// The path does not fit into the address of a socket.
    #[error(
        "the socket path is {length} bytes long, the system allows {MAX_SOCKET_PATH}: {path}\n\
         set {SOCKET_VARIABLE} to a shorter absolute path"
    )]
    TooLong {
        /// The path that is too long.
        path: String,
        /// The length of the path. Bytes.
        length: usize,
    },
    /// The path is relative.
    #[error("{SOCKET_VARIABLE} is not an absolute path: {path}")]
    Relative {
        /// The path.
        path: String,
    },
    /// Neither HOOKSD_SOCKET nor XDG_RUNTIME_DIR nor HOME is set.
    #[error("no place for the socket: set HOOKSD_SOCKET, XDG_RUNTIME_DIR or HOME to an absolute path")]
    Nowhere,
}

/// The path of the socket, by the environment: `HOOKSD_SOCKET`, else `$XDG_RUNTIME_DIR/hooksd/hooksd.sock`, else
/// `<config dir>/.state/hooksd/hooksd.sock`.
///
/// # Errors
/// When the path is relative or too long, or nothing says where it should be.
pub fn socket_path(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, SocketPathError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = match (set(SOCKET_VARIABLE), set("XDG_RUNTIME_DIR"), config_dir(variable)) {
        (Some(path), _, _) if path.is_absolute() => path,
        (Some(path), _, _) => return Err(SocketPathError::Relative { path: path.display().to_string() }),
        (None, Some(runtime), _) if runtime.is_absolute() => runtime.join("hooksd").join("hooksd.sock"),
        (None, _, Some(config)) => config.join(".state").join("hooksd").join("hooksd.sock"),
        _ => return Err(SocketPathError::Nowhere),
    };
    check_length(&path)?;
    Ok(path)
}

/// Checks that `path` fits into the address of a socket.
///
/// # Errors
/// An error with the path, its length and the limit when it does not.
pub fn check_length(path: &Path) -> Result<(), SocketPathError> {
    let length = path.as_os_str().as_encoded_bytes().len();
    if length <= MAX_SOCKET_PATH {
        return Ok(());
    }
    Err(SocketPathError::TooLong { path: path.display().to_string(), length })
}

/// The user's config dir: what `HOOKSD_CONFIG_DIR` names, if that is an absolute path, else `$HOME/.deepagents`.
/// `None` when neither leads to an absolute path.
///
/// ```
/// use hooksd_protocol::socket::{config_dir, socket_path};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/me".into());
/// assert_eq!(config_dir(&variable), Some("/home/me/.deepagents".into()));
/// assert_eq!(socket_path(&variable), Ok("/home/me/.deepagents/.state/hooksd/hooksd.sock".into()));
/// ```
#[must_use]
pub fn config_dir(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(CONFIG_DIR_VARIABLE).or_else(|| absolute("HOME").map(|home| home.join(".deepagents")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<PathBuf, SocketPathError> {
        socket_path(&|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn explicit_then_runtime_dir_then_config_dir() {
        let all = [("HOOKSD_SOCKET", "/s"), ("XDG_RUNTIME_DIR", "/run/user/1"), ("HOME", "/h")];
        assert_eq!(resolve(&all), Ok("/s".into()));
        assert_eq!(resolve(&all[1..]), Ok("/run/user/1/hooksd/hooksd.sock".into()));
        assert_eq!(resolve(&all[2..]), Ok("/h/.deepagents/.state/hooksd/hooksd.sock".into()));
        assert_eq!(resolve(&[]), Err(SocketPathError::Nowhere));
        assert_eq!(resolve(&[("HOOKSD_SOCKET", "s")]), Err(SocketPathError::Relative { path: "s".into() }));
    }

    #[test]
    fn b71_a_path_that_does_not_fit_names_path_length_and_limit() {
        let longest = format!("/{}", "x".repeat(MAX_SOCKET_PATH - 1));
        assert_eq!(resolve(&[("HOOKSD_SOCKET", &longest)]), Ok(longest.clone().into()));
        let over = format!("{longest}y");
        let error = resolve(&[("HOOKSD_SOCKET", &over)]).unwrap_err().to_string();
        assert!(error.contains(&over) && error.contains(&(MAX_SOCKET_PATH + 1).to_string()), "{error}");
        assert!(error.contains(&MAX_SOCKET_PATH.to_string()), "{error}");
    }
}
