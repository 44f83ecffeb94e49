//! One run: the vector's handlers as a document in a tree, loaded, planned, run and reduced.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hooksd::event::fanout::{HandlerJobs, fan_out};
use hooksd_config::layers::load;
use hooksd_engine::plan::choose;
use hooksd_engine::projection::Transcripts;
use hooksd_engine::reduce::{Ran as Reduced, reduce};
use hooksd_runner::JobTemplate;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bytes::{bytes, spelled_out};
use crate::invoke;
use crate::json::{Json, quote};
use crate::place::Place;
use crate::vector::Vector;
use crate::world::{Mark, World};

/// The transcript of every case.
pub(crate) const TRANSCRIPT: &str = "/h/t.jsonl";

/// A handler made of what it prints, as the vectors' README has it.
const SCRIPT: &str =
    r#"test "$4" = 0 || sleep "$4"; cat "$1"; cat "$2" >&2; test "$5" = 0 || kill -"$5" $$; exit "$3""#;

/// How a case is varied to say what a decision expects: the deliberate difference is told by comparing with a run
/// that does not have it.
pub(crate) struct As<'a> {
    /// Reads what a handler prints.
    pub(crate) printed: &'a (dyn Fn(&Json<'_>) -> Result<Vec<u8>, String> + Sync),
    /// Another shell command.
    pub(crate) command: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Another invocation.
    pub(crate) invocation: &'a (dyn Fn(&str) -> String + Sync),
}

impl As<'_> {
    pub(crate) const RECORDED: As<'static> =
        As { printed: &bytes, command: &|_| None, invocation: &|text| text.to_owned() };
}

/// A case that is laid out and can be run.
pub(crate) struct Case {
    pub(crate) place: Place,
    pub(crate) mark: Mark,
    /// The invocation's text.
    pub(crate) invocation: String,
    /// The text of the document with the handlers.
    pub(crate) document: String,
    pub(crate) agent_transcript: Option<String>,
    default_timeout: Option<f64>,
    output_cap: Option<usize>,
}

/// What came of it.
pub(crate) struct Ran {
    /// The decision, with placeholders.
    pub(crate) decision: String,
    /// Progress reports in order.
    pub(crate) progress: String,
    /// From the fan-out to the decision. Seconds.
    pub(crate) elapsed: f64,
}

impl Case {
    pub(crate) fn new(world: &World, vector: &Vector, variation: &As<'_>) -> Result<Case, String> {
        let input = vector.input();
        let place = Place::new(&[("<CWD>", "cwd"), ("<OUT>", "out"), ("<FALLBACK>", "fallback")])?;
        furnish(&place.base().join("cwd")).map_err(|error| error.to_string())?;
        let invocation = place.real_json(&(variation.invocation)(&spelled_out(input.need("invocation")?)?));
        let event = input.need("invocation")?.need("event")?.need("event")?.raw;
        let mut writer = Writer { place: &place, variation, files: 0 };
        let groups: Result<Vec<String>, String> = match (input.get("groups"), input.get("handlers")) {
            (Some(groups), None) => groups
                .items()
                .iter()
                .map(|group| writer.group(group.get("matcher"), group.need("handlers")?))
                .collect(),
            (None, Some(handlers)) => writer.group(None, handlers).map(|group| vec![group]),
            _ => return Err("expected either groups or handlers".to_owned()),
        };
        let document = format!("{{\"hooks\":{{{event}:[{}]}}}}", groups?.join(","));
        let engine = |name: &str| {
            input.get("engine").and_then(|engine| engine.get(name)).map(Json::number).transpose()
        };
        Ok(Case {
            mark: world.mark(),
            invocation,
            document,
            agent_transcript: input
                .given("agent_transcript_path")
                .map(|path| path.str().map(str::to_owned))
                .transpose()?,
            default_timeout: engine("default_timeout")?,
            output_cap: engine("max_output_bytes")?.map(|bytes| bytes as usize),
            place,
        })
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.place.base().join("cwd")
    }

    pub(crate) async fn run(&self, world: &World) -> Result<Ran, String> {
        let file = self.place.base().join("hooks.json");
        fs::write(&file, &self.document).map_err(|error| error.to_string())?;
        let invocation = invoke::lenient(&self.invocation)?;
        let cwd = PathBuf::from(&invocation.context.cwd);
        let snapshot = load(&file, None, &|_| false, &[]).snapshot;
        if let Some(dropped) =
            snapshot.diagnostics.iter().find(|diagnostic| diagnostic.field.as_deref() != Some("matcher"))
        {
            return Err(format!("the handlers do not load: {dropped:?}"));
        }
        let transcripts =
            Transcripts { session: TRANSCRIPT.to_owned(), agent: self.agent_transcript.clone() };
        let input = invoke::input(invocation);
        let chosen = choose(&snapshot, &input, &|| false).ok_or("the event is not known")?;
        let plan = chosen.plan(&snapshot, &input, &transcripts);

        let env = self.mark.environment(self.cwd().to_str().unwrap());
        let mut template = JobTemplate::new(cwd, Arc::new(env.into_iter().collect()));
        template.fallback_cwds = vec![self.place.base().join("fallback")];
        template.output_cap = self.output_cap.unwrap_or(template.output_cap);
        let jobs = HandlerJobs { default_timeout: self.default_timeout, ..HandlerJobs::new(template) };
        let reports = Arc::new(Mutex::new(Vec::new()));
        let hear = reports.clone();
        let progress = Arc::new(
            move |handler: &hooksd_config::Handler, ended: Option<&hooksd::base::handled::Handled>| {
                let active = ended.is_none();
                let message = handler.status_message.as_deref().unwrap_or_default();
                hear.lock().unwrap().push(json!({
                    "handler_id": handler.id,
                    "event": handler.event,
                    "active": active,
                    "message": message.trim_matches(hooksd_pattern::chars::is_space),
                }));
            },
        );
        let started = Instant::now();
        let outcomes = fan_out(&world.runner, &plan, &jobs, &CancellationToken::new(), Some(progress)).await;
        let outcomes: Vec<_> = outcomes.into_iter().map(|handled| handled.outcome).collect();
        let ran: Vec<Reduced<'_>> = plan
            .selected
            .iter()
            .map(|selected| &selected.handler)
            .zip(outcomes.iter().map(Option::as_ref))
            .collect();
        let (decision, _) = reduce(&plan.facts, &[], plan.diagnostics.clone(), &ran);
        let elapsed = started.elapsed().as_secs_f64();
        let decision = serde_json::to_string(&decision).map_err(|error| error.to_string())?;
        let progress = Value::Array(reports.lock().unwrap().clone()).to_string();
        Ok(Ran { decision: self.place.placeholders(&decision), progress, elapsed })
    }
}

/// What every cwd holds.
fn furnish(cwd: &Path) -> std::io::Result<()> {
    fs::create_dir(cwd.join("sub"))?;
    let arguments = "#!/bin/sh\nfor argument in \"$@\"; do printf '<%s>' \"$argument\"; done\n";
    for (name, text, mode) in [
        ("plain.txt", "plain\n", 0o644),
        ("noshebang", "echo without an interpreter line\n", 0o755),
        ("badshebang", "#!/nonexistent/interpreter\n", 0o755),
        ("script.sh", arguments, 0o755),
    ] {
        fs::write(cwd.join(name), text)?;
        fs::set_permissions(cwd.join(name), fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Writes groups as the document has them, by their spelling in the vector where there is one.
struct Writer<'a> {
    place: &'a Place,
    variation: &'a As<'a>,
    files: usize,
}

impl Writer<'_> {
    fn group(&mut self, matcher: Option<&Json<'_>>, handlers: &Json<'_>) -> Result<String, String> {
        let matcher = matcher.map(|matcher| format!("\"matcher\":{},", matcher.raw)).unwrap_or_default();
        let handlers: Result<Vec<String>, String> =
            handlers.items().iter().map(|handler| self.handler(handler)).collect();
        Ok(format!("{{{matcher}\"hooks\":[{}]}}", handlers?.join(",")))
    }

    fn handler(&mut self, handler: &Json<'_>) -> Result<String, String> {
        let mut members = vec!["\"type\":\"command\"".to_owned()];
        if let Some(command) = handler.get("command") {
            let other = command.text().and_then(self.variation.command).map(|other| quote(&other));
            let command = other.as_deref().unwrap_or(command.raw);
            members.push(format!("\"command\":{}", self.place.real_json(command)));
            if let Some(argv) = handler.get("argv") {
                members.push(format!("\"argv\":{}", self.place.real_json(argv.raw)));
            }
        } else {
            let number = |name: &str| handler.get(name).map_or("0", |value| value.raw).to_owned();
            let (stdout, stderr) =
                (self.printed(handler.need("stdout")?)?, self.printed(handler.need("stderr")?)?);
            let words = ["/bin/sh", "-c", SCRIPT, "sh", &stdout, &stderr];
            let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            words.extend(["exit", "delay", "signal"].map(number));
            members.push("\"command\":\"unused\"".to_owned());
            members.push(format!("\"argv\":{}", json!(words)));
        }
        for name in ["timeout", "statusMessage"] {
            members.extend(handler.get(name).map(|value| format!("\"{name}\":{}", value.raw)));
        }
        Ok(format!("{{{}}}", members.join(",")))
    }

    /// A file with what a handler prints.
    fn printed(&mut self, spec: &Json<'_>) -> Result<String, String> {
        let bytes = (self.variation.printed)(spec)?;
        let bytes = String::from_utf8(bytes)
            .map_or_else(|error| error.into_bytes(), |text| self.place.real(&text).into_bytes());
        self.files += 1;
        let file = self.place.base().join(format!("printed-{}", self.files));
        fs::write(&file, bytes).map_err(|error| error.to_string())?;
        Ok(file.to_str().unwrap().to_owned())
    }
}
