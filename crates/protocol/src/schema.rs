//! Generates JSON Schema and OpenRPC from the types. The folder docs/schema holds the result, and a test keeps it
//! fresh.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::{event, invocation, methods, output, payload, permissions, rpc};

/// One method of the protocol.
struct Method {
    name: &'static str,
    summary: &'static str,
    params: Schema,
    result: Schema,
}

fn method<P: JsonSchema, R: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &'static str,
    summary: &'static str,
) -> Method {
    Method { name, summary, params: generator.subschema_for::<P>(), result: generator.subschema_for::<R>() }
}

fn all_methods(g: &mut SchemaGenerator) -> Vec<Method> {
    vec![
        method::<methods::Initialize, methods::Initialized>(
            g,
            "initialize",
            "Optional greeting; refuses a protocol version it does not speak by naming those it does.",
        ),
        method::<methods::NoParams, Value>(g, "rpc.discover", "This document."),
        method::<methods::SessionOpen, methods::SessionInfo>(
            g,
            "session/open",
            "Loads the documents that apply and pins a session to the snapshot.",
        ),
        method::<methods::SessionReload, methods::SessionInfo>(
            g,
            "session/reload",
            "Moves a session to the documents as they are now.",
        ),
        method::<methods::SessionAttach, methods::SessionInfo>(
            g,
            "session/attach",
            "Goes on with a session from another connection.",
        ),
        method::<methods::SessionClose, methods::Done>(
            g,
            "session/close",
            "Ends a session and cancels its events.",
        ),
        method::<methods::NoParams, methods::SessionList>(g, "session/list", "The open sessions."),
        method::<methods::HookInvoke, methods::InvokeResult>(
            g,
            "hook/invoke",
            "Runs the handlers that match an event and answers with the one reduced decision.",
        ),
        method::<methods::HookCancel, methods::HookCancelled>(
            g,
            "hook/cancel",
            "Stops a running event by its invocation id, whoever asked for it.",
        ),
        method::<methods::LegacyEmit, methods::LegacyEmitted>(
            g,
            "legacy/emit",
            "Starts the commands of list-shaped documents on an event of that form; answers at once.",
        ),
        method::<methods::TranscriptAppend, methods::TranscriptAppended>(
            g,
            "transcript/append",
            "Appends records to the daemon's own transcript of the conversation, without secrets.",
        ),
        method::<methods::ConfigCheck, methods::CheckResult>(
            g,
            "config/check",
            "Diagnostics of a document without loading it.",
        ),
        method::<methods::ConfigShow, methods::ConfigShown>(
            g,
            "config/show",
            "The merged handlers of a folder, each with the document it comes from.",
        ),
        method::<methods::ConfigExplain, methods::ConfigExplained>(
            g,
            "config/explain",
            "For every handler of an event whether it would run, and if not why; runs nothing.",
        ),
        method::<methods::NoParams, methods::TrustListed>(
            g,
            "trust/list",
            "The projects that are trusted for good.",
        ),
        method::<methods::TrustQuery, methods::TrustStatus>(
            g,
            "trust/status",
            "What a project's document would run, and whether it is trusted.",
        ),
        method::<methods::TrustGrant, methods::TrustChanged>(
            g,
            "trust/grant",
            "Trusts a project's document for good, if it still has these bytes.",
        ),
        method::<methods::TrustQuery, methods::TrustChanged>(
            g,
            "trust/revoke",
            "Trusts a project no longer, from the next event on.",
        ),
        method::<methods::EventsSubscribe, methods::EventsSubscribed>(
            g,
            "events/subscribe",
            "Tells what the daemon does while it does it, in events/item notifications.",
        ),
        method::<methods::EventsUnsubscribe, methods::Done>(g, "events/unsubscribe", "Ends a subscription."),
        method::<methods::JournalQuery, methods::JournalPage>(
            g,
            "journal/query",
            "What ran and why it was decided so, newest first.",
        ),
        method::<methods::NoParams, methods::DaemonStats>(g, "daemon/stats", "Counters and latencies."),
        method::<methods::NoParams, methods::DaemonStatus>(g, "daemon/status", "How the daemon is."),
        method::<methods::NoParams, methods::DaemonSettings>(
            g,
            "daemon/settings",
            "What the daemon was told when it started, and where each value comes from.",
        ),
        method::<methods::NoParams, methods::Reloaded>(
            g,
            "daemon/reload",
            "Looks at all documents now, whatever was heard of them.",
        ),
        method::<methods::DaemonShutdown, methods::Done>(
            g,
            "daemon/shutdown",
            "Stops accepting, lets running events finish within drain_ms, then ends.",
        ),
    ]
}

/// The names of all methods.
#[must_use]
pub fn method_names() -> &'static [&'static str] {
    // To make the schemas that come with the names is costly, so that it is done once.
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    let names =
        || all_methods(&mut SchemaGenerator::default()).into_iter().map(|method| method.name).collect();
    NAMES.get_or_init(names)
}

/// Makes the daemon's description of itself, an OpenRPC 1.3 document.
#[must_use]
pub fn openrpc() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = SchemaGenerator::new(settings);
    let methods: Vec<Value> = all_methods(&mut generator)
        .into_iter()
        .map(|method| {
            json!({
                "name": method.name,
                "summary": method.summary,
                "paramStructure": "by-name",
                "params": [{ "name": "params", "schema": method.params }],
                "result": { "name": "result", "schema": method.result },
            })
        })
        .collect();
    let notifications = json!([
        {
            "name": "hook/progress", "direction": "server to client",
            "params": generator.subschema_for::<methods::HookProgress>(),
        },
        {
            "name": "snapshot/changed", "direction": "server to client",
            "params": generator.subschema_for::<methods::SnapshotChanged>(),
        },
        {
            "name": "events/item", "direction": "server to client",
            "params": generator.subschema_for::<methods::EventsItem>(),
        },
        {
            "name": "events/gap", "direction": "server to client",
            "params": generator.subschema_for::<methods::EventsGap>(),
        },
        {
            "name": "events/dropped", "direction": "server to client",
            "params": generator.subschema_for::<methods::EventsDropped>(),
        },
        {
            "name": "$/cancelRequest", "direction": "client to server",
            "params": generator.subschema_for::<methods::CancelRequest>(),
        },
    ]);
    let errors: Vec<Value> =
        ERRORS.iter().map(|(code, meaning)| json!({ "code": code, "message": meaning })).collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "hooksd",
            "version": methods::PROTOCOL_VERSION.to_string(),
            "description": "JSON-RPC 2.0 over a Unix stream socket, one JSON value a line.",
        },
        "methods": methods,
        "x-notifications": notifications,
        "x-errors": errors,
        "components": { "schemas": generator.take_definitions(true) },
    })
}

/// Every error code with its meaning.
pub const ERRORS: [(i64, &str); 16] = [
    (rpc::error_code::PARSE_ERROR, "the line is not JSON"),
    (rpc::error_code::INVALID_REQUEST, "the JSON is no request"),
    (rpc::error_code::METHOD_NOT_FOUND, "no such method"),
    (rpc::error_code::INVALID_PARAMS, "a param does not fit; data.field is its path"),
    (rpc::error_code::INTERNAL_ERROR, "a fault of the daemon; it costs this request alone"),
    (rpc::error_code::LINE_TOO_LONG, "the line is longer than 16 MiB; it was thrown away"),
    (rpc::error_code::UNKNOWN_SESSION, "no such session"),
    (
        rpc::error_code::SNAPSHOT_MISMATCH,
        "the session is pinned to another snapshot; data has expected and got",
    ),
    (rpc::error_code::UNTRUSTED_WORKSPACE, "the project's hooks are loaded but no longer trusted"),
    (rpc::error_code::OVERLOADED, "too many requests at once; data.retry_after_ms says when to try again"),
    (rpc::error_code::SHUTTING_DOWN, "the daemon is stopping"),
    (rpc::error_code::DEADLINE_PASSED, "the deadline passed before there was an answer"),
    (rpc::error_code::TRUST_NOT_SAVED, "the trust store was not changed; the message says why"),
    (rpc::error_code::TRANSCRIPT_NOT_WRITTEN, "the transcript could not be written; events go on"),
    (rpc::error_code::JOURNAL_UNUSABLE, "the journal is off, or cannot be read; the message says why"),
    (rpc::error_code::CANCELLED, "the request was cancelled"),
];

fn document(title: &str, fill: impl FnOnce(&mut SchemaGenerator) -> Value) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let body = fill(&mut generator);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    });
    if let (Some(schema), Value::Object(body)) = (schema.as_object_mut(), body) {
        schema.extend(body);
        schema.insert("$defs".to_owned(), Value::Object(generator.take_definitions(true)));
    }
    schema
}

/// Makes the schema of what handlers read on stdin: `anyOf` over the events.
#[must_use]
pub fn payloads() -> Value {
    document("What a hooksd handler reads on stdin", |generator| {
        let schemas = payload::schemas(generator);
        json!({ "anyOf": schemas.into_iter().map(|(_, schema)| schema).collect::<Vec<_>>() })
    })
}

/// Makes the schema of the events that agents send.
#[must_use]
pub fn invocations() -> Value {
    document("The event of hook/invoke", |generator| {
        json!({ "anyOf": [
            generator.subschema_for::<invocation::Invocation>(),
            generator.subschema_for::<invocation::ServerRequest>(),
        ] })
    })
}

/// Makes the schema of what handlers print on stdout.
#[must_use]
pub fn outputs() -> Value {
    document("What a hooksd handler prints on stdout", |generator| {
        let mut answer = generator.root_schema_for::<output::Output>().to_value();
        let context = |generator: &mut SchemaGenerator| generator.subschema_for::<output::OnlyContext>();
        let specific = [
            ("SessionStart", generator.subschema_for::<output::SessionStart>()),
            ("UserPromptSubmit", generator.subschema_for::<output::UserPromptSubmit>()),
            ("PreToolUse", generator.subschema_for::<output::PreToolUse>()),
            ("PostToolUse", generator.subschema_for::<output::PostToolUse>()),
            ("PostToolUseFailure", context(generator)),
            ("SubagentStart", context(generator)),
            ("SubagentStop", context(generator)),
            ("Stop", context(generator)),
        ];
        let mut alternatives: Vec<Value> = specific
            .into_iter()
            .map(|(event, schema)| {
                let tag = json!({ "properties": { "hookEventName": { "const": event } }, "required": ["hookEventName"] });
                json!({ "allOf": [tag, schema] })
            })
            .collect();
        alternatives.push(permission_request(generator));
        if let Some(properties) = answer.pointer_mut("/properties").and_then(Value::as_object_mut) {
            properties.insert("hookSpecificOutput".to_owned(), json!({ "anyOf": alternatives }));
        }
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("$schema");
            answer.remove("title");
            answer.remove("$defs");
        }
        answer
    })
}

/// The schema of `hookSpecificOutput` on PermissionRequest, which is read by hand.
fn permission_request(generator: &mut SchemaGenerator) -> Value {
    let update = generator.subschema_for::<permissions::PermissionUpdate>();
    json!({
        "properties": {
            "hookEventName": { "const": event::EventName::PermissionRequest.as_str() },
            "decision": { "anyOf": [
                {
                    "properties": {
                        "behavior": { "const": "allow" },
                        "updatedInput": { "type": ["object", "null"] },
                        "updatedPermissions": { "type": "array", "items": update },
                    },
                    "required": ["behavior"],
                },
                {
                    "properties": {
                        "behavior": { "const": "deny" },
                        "message": { "type": ["string", "null"] },
                        "interrupt": { "type": "boolean" },
                    },
                    "required": ["behavior"],
                },
            ] },
        },
        "required": ["hookEventName", "decision"],
    })
}

/// Every generated document, by its file name in docs/schema/.
#[must_use]
pub fn documents() -> Vec<(&'static str, String)> {
    let render = |value: Value| format!("{value:#}\n");
    vec![
        ("openrpc.json", render(openrpc())),
        ("payloads.schema.json", render(payloads())),
        ("outputs.schema.json", render(outputs())),
        ("invocations.schema.json", render(invocations())),
    ]
}
