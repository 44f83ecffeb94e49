//! One question to the daemon, started if there is none; asked again while it can be, within the agent's patience.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hooksd_client::retry::{Begun, insist};
use hooksd_client::{ClientError, default_socket, read_invoke_result};
use hooksd_dialects::{Dialect, Request};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{
    AgentBehind, HookInvoke, InvokeOptions, InvokeResult, Mode, ResourceLimits, SessionOpen, SessionRef,
};
use hooksd_protocol::rpc::error_code;
use hooksd_protocol::socket::check_length;
use hooksd_protocol::timestamp::Timestamp;
use nix::sys::resource::Resource;
use nix::sys::stat;
use uuid::Uuid;

use super::{DAEMON_MARGIN_MS, Options};

/// Asks the daemon. `None` when the event is none of hooksd's: then there is nothing to say.
///
/// # Errors
/// Why there is no decision, for people.
pub(super) fn ask(
    options: &Options,
    dialect: &Dialect,
    request: &Request,
    until: Instant,
) -> Result<Option<InvokeResult>, String> {
    let path = match &options.socket {
        Some(path) => check_length(path).map(|()| path.clone()),
        None => default_socket(),
    };
    let path = path.map_err(|error| error.to_string())?;
    let mut invoke = HookInvoke {
        session: SessionRef::Inline(Box::new(session(options, dialect, request))),
        invocation: None,
        payload: Some(request.payload.clone()),
        options: InvokeOptions {
            // One of our own where the agent's call has none: by it the event can be asked for again.
            invocation_id: Some(request.invocation_id.unwrap_or_else(Uuid::new_v4).into()),
            deadline: deadline(request, until),
            agent: Some(behind(dialect, request)),
            ..InvokeOptions::default()
        },
    };
    let insist = |begun: Begun, invoke: &HookInvoke| {
        insist(&path, until, begun, |client| client.call_raw("hook/invoke", invoke)).map(|(raw, _)| raw)
    };
    // What decides nothing is left once it may have begun: its handlers would run twice for nothing.
    let Some(event) = request.event else {
        // Its decision has a form that is not known here, and nothing to say.
        return insist(Begun::Leave, &invoke).map(|_| None).map_err(|error| error.to_string());
    };
    let begun = if event.outlives_client() { Begun::Leave } else { Begun::AskOnceMore };
    let answered = match insist(begun, &invoke) {
        // The id is a guess of ours; a decision does not depend on it (D21).
        Err(ClientError::Refused(error))
            if error.code == error_code::INVALID_PARAMS && names_the_id(&error) =>
        {
            invoke.options.invocation_id = Some(Uuid::new_v4().into());
            insist(begun, &invoke)
        }
        answered => answered,
    };
    answered.and_then(|raw| read_invoke_result(&raw)).map(Some).map_err(|error| error.to_string())
}

fn names_the_id(error: &hooksd_protocol::rpc::RpcError) -> bool {
    let field = error.data.as_ref().and_then(|data| data.get("field"));
    field.and_then(|field| field.as_str()) == Some("invocation_id")
}

/// When the daemon's answer is wanted. None for the end of a session: its handlers finish without us (D11).
fn deadline(request: &Request, until: Instant) -> Option<Timestamp> {
    if request.event == Some(EventName::SessionEnd) {
        return None;
    }
    let left = until.saturating_duration_since(Instant::now());
    let left = left.saturating_sub(Duration::from_millis(DAEMON_MARGIN_MS)).max(left / 2);
    let then = SystemTime::now().duration_since(UNIX_EPOCH).ok()? + left;
    Timestamp::from_epoch(then.as_secs_f64())
}

/// The agent and what it cannot follow, so that this is kept where the decision is kept.
fn behind(dialect: &Dialect, request: &Request) -> AgentBehind {
    let is_attended = request.mode == Mode::Interactive;
    let cannot = request.event.map(|event| dialect.cannot(event, is_attended));
    AgentBehind { name: dialect.name.to_owned(), cannot: cannot.unwrap_or_default() }
}

/// A session for this event only: the agent's folder and environment, and what the agent can apply.
fn session(options: &Options, dialect: &Dialect, request: &Request) -> SessionOpen {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    SessionOpen {
        thread_id: request.thread_id.clone(),
        cwd: request.cwd.clone(),
        mode: request.mode,
        trust: options.trust.clone(),
        env: Some(env.collect()),
        umask: Some(umask()),
        rlimits: Some(rlimits()),
        plugins: Some(options.plugins.clone()),
        accepts: dialect.accepts(),
        follow: false,
    }
}

/// This process's soft limits, as the agent has them; what is unlimited is left to the daemon.
fn rlimits() -> ResourceLimits {
    let soft = |resource| hooksd_system::limits(resource).soft;
    ResourceLimits {
        address_space: soft(Resource::RLIMIT_AS),
        core: soft(Resource::RLIMIT_CORE),
        cpu: soft(Resource::RLIMIT_CPU),
        data: soft(Resource::RLIMIT_DATA),
        fsize: soft(Resource::RLIMIT_FSIZE),
        nofile: soft(Resource::RLIMIT_NOFILE),
        stack: soft(Resource::RLIMIT_STACK),
    }
}

/// This process's file mode mask. It can only be read by setting it; nothing is created in between.
fn umask() -> u32 {
    let mask = stat::umask(stat::Mode::empty());
    stat::umask(mask);
    #[allow(clippy::useless_conversion, reason = "the types differ from system to system")]
    u32::from(mask.bits() & 0o777)
}
