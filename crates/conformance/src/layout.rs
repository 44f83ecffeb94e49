//! A scenario's folders: laid out before, looked at afterwards, gone with the value.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::scenario::{FileSpec, Scenario};
use crate::script::script;

/// Held while a program is written, and while one is started: a process that is being started holds every descriptor
/// of this one for a moment, and a file that is open for writing cannot be run.
pub(crate) static STARTING: Mutex<()> = Mutex::new(());

/// The folders of one scenario.
pub(crate) struct World {
    top: PathBuf,
    config: PathBuf,
    /// Placeholder and what it stands for.
    names: Vec<(&'static str, String)>,
    /// What was put into a config dir that is not the scenario's own.
    lent: Vec<PathBuf>,
}

impl World {
    /// Lays a scenario out; its config dir may be that of a daemon.
    pub(crate) fn new(scenario: &Scenario, config: Option<PathBuf>) -> Result<World, String> {
        let top = folder().map_err(|error| error.to_string())?;
        let is_lent = config.is_some();
        let config = config.unwrap_or_else(|| top.join("home/.deepagents"));
        let mut world = World { top, config, names: Vec::new(), lent: Vec::new() };
        if world.top.to_str().is_none_or(|path| path.contains(['"', '\\', '\'', '<'])) {
            return Err(format!("{} is no path to put into JSON", world.top.display()));
        }
        let places = [
            ("<CONFIG>", world.config.clone()),
            ("<CWD>", world.top.join("project")),
            ("<HOME>", world.top.join("home")),
            ("<OUT>", world.top.join("out")),
            ("<RUN>", world.top.join("run")),
            ("<ROOT>", world.top.clone()),
        ];
        world.names = places.iter().map(|(name, path)| (*name, path.display().to_string())).collect();
        for path in places.iter().map(|(_, path)| path).chain([&world.top.join("seen")]) {
            fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        world.furnish(scenario, is_lent)?;
        Ok(world)
    }

    fn furnish(&mut self, scenario: &Scenario, is_lent: bool) -> Result<(), String> {
        for file in &scenario.files {
            self.file(file, is_lent).map_err(|error| format!("{}: {error}", file.path))?;
        }
        let documents =
            [("<CONFIG>/hooks.json", &scenario.user), ("<CWD>/.deepagents/hooks.json", &scenario.project)];
        for (path, bytes) in documents {
            if let Some(bytes) = bytes {
                let bytes = bytes.bytes(&|text| self.real(text))?;
                self.write(&self.place(path)?, &bytes, 0o644, is_lent)?;
            }
        }
        for (name, handler) in &scenario.handlers {
            let looks_at_env = scenario.expect.env.contains_key(name);
            let script = script(handler, &self.at("seen").join(name), looks_at_env, &|text| self.real(text))?;
            for (path, bytes) in script.files {
                self.write(&path, &bytes, 0o644, false)?;
            }
            self.write(&self.at("run").join(name), script.text.as_bytes(), 0o755, false)?;
        }
        Ok(())
    }

    fn file(&mut self, file: &FileSpec, is_lent: bool) -> Result<(), String> {
        let path = self.place(&file.path)?;
        // What was there before is not taken away afterwards.
        let is_new = fs::symlink_metadata(&path).is_err();
        let told = |error: std::io::Error| error.to_string();
        if let Some(target) = &file.symlink {
            fs::create_dir_all(path.parent().unwrap_or(&self.top)).map_err(told)?;
            symlink(self.real(target), &path).map_err(told)?;
        } else if file.dir {
            fs::create_dir_all(&path).map_err(told)?;
        } else {
            let bytes = file.bytes.as_ref().map(|bytes| bytes.bytes(&|text| self.real(text))).transpose()?;
            return self.write(&path, &bytes.unwrap_or_default(), file.mode.unwrap_or(0o644), is_lent);
        }
        self.lend(&path, is_lent && is_new);
        Ok(())
    }

    /// Writes a file; in a config dir that is somebody's, only where none is.
    fn write(&mut self, path: &Path, bytes: &[u8], mode: u32, is_lent: bool) -> Result<(), String> {
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        if self.is_lent(path, is_lent) && fs::symlink_metadata(path).is_ok() {
            return Err(format!("{} is there already, and is not replaced", path.display()));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(told)?;
        }
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        fs::write(path, bytes).map_err(told)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(told)?;
        self.lend(path, is_lent);
        Ok(())
    }

    fn lend(&mut self, path: &Path, is_lent: bool) {
        if self.is_lent(path, is_lent) {
            self.lent.push(path.to_owned());
        }
    }

    fn is_lent(&self, path: &Path, is_lent: bool) -> bool {
        is_lent && path.starts_with(&self.config)
    }

    /// A path that begins with a placeholder, and leads nowhere else.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        let real = PathBuf::from(self.real(path));
        let is_inside = real.starts_with(&self.top) || real.starts_with(&self.config);
        if !is_inside || real.components().any(|part| part == std::path::Component::ParentDir) {
            return Err("it has to begin with a placeholder and stay there".to_owned());
        }
        Ok(real)
    }

    /// A path below the top.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// The config dir.
    pub(crate) fn config_dir(&self) -> &Path {
        &self.config
    }

    /// A text with real paths.
    pub(crate) fn real(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, real)| text.replace(name, real))
    }

    /// A text with placeholders again: the longest path first, since one may begin another.
    pub(crate) fn placeholders(&self, text: &str) -> String {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, real)| std::cmp::Reverse(real.len()));
        names.into_iter().fold(text.to_owned(), |text, (name, real)| text.replace(real, name))
    }

    /// The environment of the session, with its programs first on the `PATH`.
    pub(crate) fn environment(&self, scenario: &Scenario) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
        let mut environment = vec![
            ("PATH".to_owned(), format!("{}:{path}", self.at("run").display())),
            ("HOME".to_owned(), self.at("home").display().to_string()),
        ];
        environment.extend(scenario.session.env.iter().map(|(name, value)| (name.clone(), self.real(value))));
        environment
    }

    /// The session's folder.
    pub(crate) fn cwd(&self, scenario: &Scenario) -> String {
        self.real(scenario.session.cwd.as_deref().unwrap_or("<CWD>"))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for path in self.lent.iter().rev() {
            // A folder goes with what is in it; what is gone already need not be taken away.
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        }
        let _ = fs::remove_dir_all(&self.top);
    }
}

/// A new folder in a canonical path. Its name has no capital letter: scenarios count those in what handlers read.
pub(crate) fn folder() -> std::io::Result<PathBuf> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let temporary = fs::canonicalize(std::env::temp_dir())?;
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = temporary.join(format!("hooks-conformance-{}-{number}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            // Of a process that had this one's number.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
