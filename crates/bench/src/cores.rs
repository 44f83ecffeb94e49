//! Who runs on which core. Between two programs that wake each other the kernel's choice of a core is worth more than
//! all that is measured here, and it is chosen anew for each program: both sides of a line get the same cores.

#[cfg(target_os = "linux")]
pub(crate) use bound::Cores;
#[cfg(not(target_os = "linux"))]
pub(crate) use free::Cores;

#[cfg(target_os = "linux")]
mod bound {
    use std::fs;

    use anyhow::{Context, Result};
    use nix::errno::Errno;
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    /// The cores of the measuring thread and of the programs that it talks to.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Cores {
        /// In a row's words.
        pub(crate) name: &'static str,
        mine: usize,
        theirs: usize,
    }

    /// The measuring thread is on its core until this is dropped.
    pub(crate) struct Bound(CpuSet);

    impl Drop for Bound {
        fn drop(&mut self) {
            // The cores were this thread's before.
            let _ = sched_setaffinity(THIS_THREAD, &self.0);
        }
    }

    /// What stands for the calling thread.
    const THIS_THREAD: Pid = Pid::from_raw(0);

    fn only(core: usize) -> CpuSet {
        let mut set = CpuSet::new();
        // A core that the kernel has told of fits into its own set.
        let _ = set.set(core);
        set
    }

    /// The first two cores that there are.
    fn two() -> Result<(usize, Option<usize>)> {
        let own = sched_getaffinity(THIS_THREAD).context("which cores are there?")?;
        let mut cores = (0..CpuSet::count()).filter(|core| own.is_set(*core) == Ok(true));
        Ok((cores.next().context("no core")?, cores.next()))
    }

    impl Cores {
        /// All on one core, and a core each where there are two.
        pub(crate) fn each_way() -> Result<Vec<Cores>> {
            let (mine, second) = two()?;
            let each = second.map(|theirs| Cores { name: "a core each", mine, theirs });
            Ok([Some(Cores::one()?), each].into_iter().flatten().collect())
        }

        /// All on one core.
        pub(crate) fn one() -> Result<Cores> {
            let (first, _) = two()?;
            Ok(Cores { name: "all on one core", mine: first, theirs: first })
        }

        /// Binds this thread, and these processes with all that they start from now on.
        pub(crate) fn bind(&self, processes: &[u32]) -> Result<Bound> {
            let before = sched_getaffinity(THIS_THREAD).context("which cores are there?")?;
            for process in processes {
                for thread in fs::read_dir(format!("/proc/{process}/task")).context("no threads")? {
                    let name = thread.context("no threads")?.file_name();
                    let id = name.to_str().and_then(|name| name.parse().ok()).context("no thread's id")?;
                    match sched_setaffinity(Pid::from_raw(id), &only(self.theirs)) {
                        // A thread that has ended meanwhile needs no core.
                        Ok(()) | Err(Errno::ESRCH) => {}
                        Err(error) => return Err(error).context("cannot bind it"),
                    }
                }
            }
            sched_setaffinity(THIS_THREAD, &only(self.mine)).context("cannot bind this thread")?;
            Ok(Bound(before))
        }
    }
}

/// Where a program cannot say on which core it is to run.
#[cfg(not(target_os = "linux"))]
mod free {
    use anyhow::Result;

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Cores {
        pub(crate) name: &'static str,
    }

    impl Cores {
        pub(crate) fn each_way() -> Result<Vec<Cores>> {
            Ok(vec![Cores::one()?])
        }

        pub(crate) fn one() -> Result<Cores> {
            Ok(Cores { name: "wherever the system has them" })
        }

        pub(crate) fn bind(&self, _: &[u32]) -> Result<()> {
            Ok(())
        }
    }
}
