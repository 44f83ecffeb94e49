"""Makes the scenarios of `hooksctl conformance` from the recorded vectors: what of them can be seen from outside.

    python3 tests/suite/generate.py OUT

writes one OUT/AREA.jsonl for each area, and OUT/README.md: how many scenarios of how many vectors, and why the others
are left out. `cases.jsonl` there is written by hand and stays.
"""

import base64
import collections
import json
import pathlib
import re
import sys

VECTORS = pathlib.Path(__file__).parent.parent / "conformance"
SCHEMA = 1

# What a vector's handler is called where the vector has no name for it.
ONLY = "a"

# Members of a decision that say nothing.
QUIET = {
    "continue_processing": True,
    "stop_reason": None,
    "user_notices": [],
    "terminal_sequences": [],
    "context": [],
    "feedback": [],
    "continue_loop": False,
    "suppress_original_prompt": False,
    "permission": {"behavior": "none", "reason": None, "interrupt": False},
}
CAUSES = {
    "SessionStart": ["startup", "resume", "clear", "compact"],
    "SessionEnd": ["clear", "resume", "prompt_input_exit", "other"],
    "PreCompact": ["manual", "auto"],
}
NOTIFICATIONS = [
    "permission_required",
    "permission_prompt",
    "agent_needs_input",
    "agent_completed",
    "cache_expiring",
    "cold_cache_warning",
]
EVENTS = [
    "SessionStart", "UserPromptSubmit", "SessionEnd", "PermissionRequest", "Notification", "PreToolUse", "PostToolUse",
    "PostToolUseFailure", "PreCompact", "Stop", "SubagentStart", "SubagentStop",
]  # fmt: skip
# Words that a shell runs itself: a program of that name is never seen.
BUILTINS = {"true", "false", "echo", "exit", "test", "cd", ":", "a b"}

# Vectors that can be seen from outside and still are no scenario, by the beginning of their ids.
LEFT_OUT = {
    "plugins/discovery/missing-folder": "hooksd also tells a session of a plugin whose folder is gone",
    "plugins/discovery/folder-is-file": "hooksd also tells a session of a plugin whose folder is gone",
    "config/doc-hooks-list-mixed": "hooksd keeps the entries of a list beside what is none",
    "legacy/doc/list-with-": "hooksd keeps the entries of a list beside what is none",
    "reduce/launch/noshebang": "how a file without an interpreter line is run differs between systems",
    "matcher/regex-esc-N/": "hooksd refuses named characters in expressions, and says so (docs/matchers.md)",
    "projection/stop-count-string": "hooksd reads requests strictly, the reference does not",
    "projection/stop-count-true": "hooksd reads requests strictly, the reference does not",
    "projection/result-null": "hooksd differs from the reference on purpose: a null result is passed on",
    "projection/random/049": "hooksd differs from the reference on purpose: a null result is passed on",
    "projection/random/078": "hooksd differs from the reference on purpose: a null result is passed on",
    "projection/args-overflow": "hooksd passes on what the reference cannot",
    "projection/args-depth-25": "hooksd passes on what the reference cannot",
}


class LeftOut(Exception):
    """Why a vector makes no scenario."""


def invocation(event, name="execute", server=None, **more):
    """An event whose matcher target is `name`."""
    call = {"id": "c", "name": name, "args": {}}
    if server is not None:
        call["mcp_server"] = server
    last = {"continuation_count": 0, "last_assistant_message": ""}
    if event in CAUSES and name not in CAUSES[event]:
        raise LeftOut("no event can have this cause")
    if event == "Notification" and name not in NOTIFICATIONS:
        raise LeftOut("no event can have this cause")
    body = {
        "SessionStart": {"cause": name},
        "SessionEnd": {"cause": name},
        "PreCompact": {"trigger": name},
        "Notification": {"notification": {"type": name, "message": "m"}},
        "PermissionRequest": {"call": call},
        "PreToolUse": {"call": call},
        "PostToolUse": {"call": call, "result": 1},
        "PostToolUseFailure": {"call": call, "error": "e"},
        "SubagentStart": {"agent": {"id": "i", "name": name}},
        "SubagentStop": {"agent": {"id": "i", "name": name}, **last},
        "UserPromptSubmit": {"prompt": "p"},
        "Stop": last,
    }[event]
    context = {"thread_id": "thread-7", "cwd": "<CWD>", "approval_mode": "manual"}
    return {"context": context, "event": {"event": event, **body, **more}}


def ordinary(event):
    """An event of the kind, with any target."""
    first = {**{event: causes[0] for event, causes in CAUSES.items()}, "Notification": "agent_completed"}
    return invocation(event, first.get(event, "execute"))


def scenario(vector, event, expect, **more):
    made = {"schema": SCHEMA, "id": vector["id"], "about": vector["about"], "invocation": event, "expect": expect}
    if event["event"]["event"] == "SubagentStop":
        made["agent_transcript_path"] = "/h/a.jsonl"
    made.update(more)
    return {key: value for key, value in made.items() if value not in (None, {}, [])}


def document(groups_by_event):
    return json.dumps({"hooks": groups_by_event})


def run(name):
    return {"type": "command", "command": f"<RUN>/{name}"}


def decided(decision):
    """What a decision says, and its diagnostics."""
    says = {key: value for key, value in decision.items() if key in QUIET and value != QUIET[key]}
    unknown = set(decision) - set(QUIET) - {"event", "diagnostics"}
    if any(decision[key] not in (None, [], False) for key in unknown):
        raise LeftOut("its decision has members of later protocols")
    return {"decision": says, "diagnostics": diagnostics(decision["diagnostics"])}


def diagnostics(found):
    return [{key: value for key, value in one.items() if key != "message" and value is not None} for one in found]


def reduce(vector):
    given, expect = vector["input"], vector["expect"]
    if "engine" in given:
        raise LeftOut("it sets limits inside the engine")
    if "requires" in given or "wait_s" in given.get("observe", {}):
        raise LeftOut("it looks at what is left long afterwards, or needs more programs")
    if "decision" not in expect:
        raise LeftOut("the reference gave no answer")
    event = given["invocation"]["event"]["event"]
    handlers, groups, files = {}, [], []
    selects = False
    for group in given.get("groups") or [{"hooks": None, "handlers": given["handlers"]}]:
        made = []
        for handler in group["handlers"]:
            if "command" in handler:
                written = {key: handler[key] for key in ("command", "argv") if key in handler}
            else:
                name = f"h{len(handlers)}"
                kept = ("stdout", "stderr", "exit", "delay", "signal")
                handlers[name] = {key: handler[key] for key in kept if handler.get(key)}
                written = {"command": f"<RUN>/{name}"}
            also = {key: handler[key] for key in ("timeout", "statusMessage") if key in handler}
            made.append({"type": "command", **written, **also})
        matcher = {"matcher": group["matcher"]} if "matcher" in group else {}
        selects |= bool(matcher)
        groups.append({**matcher, "hooks": made})
    text = document({event: groups})
    for name, body, mode in [
        ("sub", None, 0),
        ("plain.txt", "plain\n", 0o644),
        ("badshebang", "#!/nonexistent/interpreter\n", 0o755),
        ("script.sh", "#!/bin/sh\nfor argument in \"$@\"; do printf '<%s>' \"$argument\"; done\n", 0o755),
    ]:
        if name in text:
            path = f"<CWD>/{name}"
            files.append({"path": path, "dir": True} if body is None else {"path": path, "bytes": body, "mode": mode})
    wanted = decided(expect["decision"])
    failed = any(one["code"] == "projection_failed" for one in wanted["diagnostics"])
    # What is killed may not have come to write down that it ran.
    if not selects and not any(one["code"] == "timeout" for one in wanted["diagnostics"]):
        wanted["ran"] = [] if failed else sorted(handlers)
    if "stdin" in expect:
        wanted["files"] = {f"<CWD>/{given['observe']['stdin_file']}": expect["stdin"]}
    if "elapsed_between" in expect:
        wanted["seconds"] = expect["elapsed_between"]
    more = {"handlers": handlers, "user": text, "files": files}
    if "stdin" in expect:
        more["transcript_path"] = "/h/t.jsonl"
    if "agent_transcript_path" in given:
        more["agent_transcript_path"] = given["agent_transcript_path"]
    made = scenario(vector, given["invocation"], wanted, **more)
    if "agent_transcript_path" not in given:
        made.pop("agent_transcript_path", None)
    yield made


def terminal(vector):
    sequence, valid = vector["input"]["sequence"], vector["expect"]["valid"]
    bad = {"code": "invalid_terminal_sequence", "severity": "warning", "handler_id": "Stop:0:0",
           "field": "terminalSequence"}  # fmt: skip
    says = {"terminal_sequences": [sequence]} if valid and sequence else {}
    expect = {"decision": says, "diagnostics": [] if valid else [bad], "ran": [ONLY]}
    printed = json.dumps({"terminalSequence": sequence})
    text = document({"Stop": [{"hooks": [run(ONLY)]}]})
    yield scenario(vector, ordinary("Stop"), expect, handlers={ONLY: {"stdout": printed}}, user=text)


def matcher(vector):
    given, expect = vector["input"], vector["expect"]
    if expect["kind"] == "raises" or vector.get("decision") not in (None, "D7"):
        raise LeftOut("the reference gave no answer")
    group = {"hooks": [run(ONLY)]}
    if given["matcher"] is not None:
        group["matcher"] = given["matcher"]
    text = document({given["event"]: [group]})
    told = [{**one, "field": one["field"]} for one in expect["diagnostics"]]
    made = 0
    for number, target in enumerate(given["targets"]):
        name, server = (target["name"], target.get("mcp_server")) if isinstance(target, dict) else (target, None)
        matched = False if expect["kind"] == "rejected" else expect["matched"][number]
        try:
            event = invocation(given["event"], name, server)
        except LeftOut:
            continue
        if not isinstance(matched, bool):
            continue
        made += 1
        wanted = {"ran": [ONLY] if matched else [], "load_diagnostics": told}
        yield scenario({**vector, "id": f"{vector['id']}/{number}"}, event, wanted, handlers={ONLY: {}}, user=text)
    if not made:
        raise LeftOut("no event can have this cause")


def projection(vector):
    given, expect = vector["input"], vector["expect"]
    if "decision" in vector:
        raise LeftOut("hooksd differs on purpose, and passes on what the reference cannot")
    if expect.get("rejected"):
        raise LeftOut("the event itself is refused, which is the wire's business")
    text = given.get("invocation_text")
    whole = json.loads(text) if text else given["invocation"]
    if "<CWD>" in json.dumps(vector) or whole["context"]["cwd"] not in ("/w", "/w/proj"):
        raise LeftOut("it is about a folder that is not there")
    cwd = whole["context"]["cwd"]
    event = whole["event"]["event"]
    wanted = {"ran": [ONLY], "stdin": {}}
    if expect.get("projection_failed"):
        wanted = {"ran": [], "diagnostics": [{"code": "projection_failed", "severity": "warning"}]}
        if event == "Notification":
            wanted.pop("diagnostics")
    else:
        wanted["stdin"] = {ONLY: expect["stdin"].replace(f'"cwd":"{cwd}"', '"cwd":"<CWD>"', 1)}
    more = {"handlers": {ONLY: {}}, "user": document({event: [{"hooks": [run(ONLY)]}]})}
    for key in ("transcript_path", "agent_transcript_path"):
        more[key] = given[key]
    made = scenario(vector, whole, wanted, **more)
    if text:
        made["invocation"] = Spelled(re.sub(rf'("cwd"\s*:\s*)"{cwd}"', r'\1"<CWD>"', text, count=1))
    else:
        whole["context"]["cwd"] = "<CWD>"
    if given["agent_transcript_path"] is None:
        made.pop("agent_transcript_path", None)
    yield made


def env(vector):
    given, expect = vector["input"], vector["expect"]
    if "name" in given:
        session, seen = {given["name"]: "v"}, {given["name"]: "v" if expect["kept"] else None}
    elif "env" in given:
        session, seen = given["env"], {name: expect["env"].get(name) for name in given["env"]}
    elif not given.get("plugin_env"):
        session = {name: value for name, value in given["process_env"].items() if name not in ("PATH", "HOME")}
        seen = {name: expect["handler_env"].get(name) for name in session}
    else:
        raise LeftOut("a plugin's variables are those of its folder")
    session.pop("CLAUDE_PROJECT_DIR", None), seen.pop("CLAUDE_PROJECT_DIR", None)
    if not session or any(not re.fullmatch(r"[^=\0]+", name) for name in session) or {"PATH", "HOME"} & set(session):
        raise LeftOut("no process can have such a variable, or the suite needs it itself")
    # A shell in between would drop what it has no name for.
    text = document({"Stop": [{"hooks": [{**run(ONLY), "argv": [f"<RUN>/{ONLY}"]}]}]})
    wanted = {"ran": [ONLY], "env": {ONLY: seen}}
    yield scenario(vector, ordinary("Stop"), wanted, handlers={ONLY: {}}, user=text, session={"env": session})


def commands(vector, handlers):
    """The handlers as programs on the PATH, by event: name and matcher."""
    by_event = collections.defaultdict(list)
    for handler in handlers:
        word = handler["argv"][0] if handler.get("argv") else handler["command"]
        if not isinstance(word, str) or not re.fullmatch(r"[a-z0-9_-]+", word) or word in BUILTINS:
            raise LeftOut("what its commands do cannot be seen")
        by_event[handler["id"].split(":")[0]].append((word, handler.get("matcher")))
    return by_event


def events_seen(vector, text, by_event):
    """Each event that has handlers, or one that has none, with what runs on it."""
    if not by_event:
        named = [event for event in EVENTS if event in text]
        yield ordinary(named[0] if named else "PreToolUse"), []
    for event, found in by_event.items():
        exact = [matcher for _, matcher in found if matcher and re.fullmatch(r"\w+", matcher)]
        if any(matcher and matcher != "*" and not re.fullmatch(r"[\w|]+", matcher) for _, matcher in found):
            raise LeftOut("its matchers are the business of the area matcher")
        try:
            made = invocation(event, exact[0]) if exact else ordinary(event)
        except LeftOut:
            made = ordinary(event)
        target = target_of(made)
        runs = [word for word, matcher in found if matcher in (None, "", "*") or target in matcher.split("|")]
        yield made, sorted(runs)


def target_of(made):
    event = made["event"]
    name = event.get("call", event.get("agent", {})).get("name") or event.get("cause") or event.get("trigger")
    return {"execute": "Bash"}.get(name, name or event.get("notification", {}).get("type"))


def each_event(vector, text, by_event, expect, **more):
    words = {word for found in by_event.values() for word, _ in found}
    seen = list(events_seen(vector, text, by_event))
    for number, (event, runs) in enumerate(seen):
        named = vector if len(seen) == 1 else {**vector, "id": f"{vector['id']}/{event['event']['event']}"}
        handlers = {word: {} for word in sorted(words)} or {"go": {}, "run": {}}
        yield scenario(named, event, {"ran": runs, **expect}, handlers=handlers, **more)


def config(vector):
    given, expect = vector["input"], vector["expect"]
    if "decision" in vector or "raises" in expect:
        raise LeftOut("hooksd differs on purpose, or the reference gave no answer")
    if given.get("plugins") or given.get("opaque_handlers") or "layout" in given or "files" in given:
        raise LeftOut("its documents are handed to the loader, not found")
    more = {"files": [], "session": {"trust": "explicit"} if given["trusted"] else {}}
    for name, path in [("user", "<CONFIG>/hooks.json"), ("project", "<CWD>/.deepagents/hooks.json")]:
        spec = given.get(name)
        if isinstance(spec, dict) and "directory" in spec:
            more["files"].append({"path": path, "dir": True})
        elif isinstance(spec, dict) and "symlink" in spec:
            raise LeftOut("its documents are handed to the loader, not found")
        elif spec is not None:
            more[name] = spec
    found = [*expect["load_diagnostics"], *expect["snapshot_diagnostics"]]
    told = json.loads(located(json.dumps(diagnostics(found))))
    if any((handler.get("timeout") or 600) < 5 for handler in expect["handlers"]):
        raise LeftOut("its handlers have no time to be seen")
    by_event = commands(vector, expect["handlers"])
    # What is said of a project that is not trusted is the session's business, and left open.
    wanted = {"load_diagnostics": told} if given["trusted"] or "project" not in given else {}
    yield from each_event(vector, json.dumps(given), by_event, wanted, **more)


def located(text):
    return text.replace("<USER>", "<CONFIG>/hooks.json").replace("<PROJECT>", "<CWD>/.deepagents/hooks.json")


def legacy(vector):
    given, expect = vector["input"], vector["expect"]
    more = {given.get("scope", "user"): given["document"]}
    more["session"] = {"trust": "explicit"} if given.get("trusted", True) else {}
    if "invocation" in given:
        if "cwd_files" in given or "elapsed_between" in expect or expect["decision"]["diagnostics"]:
            raise LeftOut("the reference runs such commands by an adapter of its own")
        wanted = decided(expect["decision"])
        wanted["files"] = {f"<OUT>/{name}": text for name, text in expect["files"].items()}
        yield scenario(vector, given["invocation"], wanted, **more)
        return
    told = json.loads(located(json.dumps(diagnostics(expect["diagnostics"]))))
    by_event = commands(vector, expect["handlers"])
    wanted = {"load_diagnostics": told} if "trust" in more["session"] else {}
    for made in each_event(vector, given["document"], by_event, wanted, **more):
        made["handlers"] = made["handlers"] if expect["handlers"] else {"old": {}, "a": {}}
        yield made


def tree(specs):
    made = []
    for spec in specs:
        if "dir" in spec:
            made.append({"path": f"<ROOT>/{spec['dir']}", "dir": True})
        elif "symlink" in spec:
            made.append({"path": f"<ROOT>/{spec['symlink']}", "symlink": spec["to"]})
        else:
            body = {"base64": spec["base64"]} if "base64" in spec else spec["text"]
            made.append({"path": f"<ROOT>/{spec['file']}", "bytes": body})
    return made


def trust(vector):
    given, expect = vector["input"], vector["expect"]
    if "decision" in vector:
        raise LeftOut("hooksd differs on purpose")
    guard = document({"Stop": [{"hooks": [run(ONLY)]}]})
    if given["kind"] == "store":
        if not isinstance(given["store"], str):
            raise LeftOut("its store is no text")
        files = [spec for spec in tree(given["fs"]) if not spec["path"].endswith("/.deepagents/hooks.json")]
        top = re.sub(r"/(sub|deep).*", "", given["project"])
        files.append({"path": f"{top}/.deepagents/hooks.json", "bytes": guard})
        files.append({"path": "<CONFIG>/.state/hooks_trust.json", "bytes": given["store"], "mode": 0o600})
        if top != "<ROOT>/proj" or given["project"] != top:
            raise LeftOut("it asks of another folder than a session's project")
        session = {"cwd": given["project"]}
        runs = expect["trusted"]
    elif given["kind"] == "root":
        if "raises" in expect or not expect.get("project_root") or not expect["project_root"].startswith("<ROOT>"):
            raise LeftOut("it has no project")
        root = expect["project_root"]
        files = [*tree(given["fs"]), {"path": f"{root}/.deepagents/hooks.json", "bytes": guard}]
        session = {"cwd": given["cwd"], "trust": "explicit"}
        runs = True
    else:
        raise LeftOut("the policy and the writing of trust are inside an engine")
    event = ordinary("Stop")
    event["context"]["cwd"] = session["cwd"]
    wanted = {"ran": [ONLY] if runs else []}
    yield scenario(vector, event, wanted, handlers={ONLY: {}}, files=files, session=session)


def plugins(vector):
    given, expect = vector["input"], vector["expect"]
    if "decision" in vector or "raises" in expect or given["kind"] == "data_dir":
        raise LeftOut("hooksd differs on purpose, or it is a name inside the engine")
    files = tree(given["fs"])
    cwd = given["project_dir"] or "<CWD>"
    files.append({"path": cwd, "dir": True})
    if given["kind"] == "discovery":
        for key, name in [("plugin_state", "plugin_state.json"), ("installed_plugins", "installed_plugins.json")]:
            if given[key] is not None:
                if not isinstance(given[key], str):
                    raise LeftOut("its state is no text")
                files.append({"path": STATE[key], "bytes": given[key]})
        listed = "discover"
    else:
        listed = [{"id": one["id"], "root": f"<ROOT>/{one['root']}"} for one in given["plugins"]]
    by_event = commands(vector, expect["handlers"])
    told = json.loads(json.dumps(diagnostics([*expect["diagnostics"], *expect["load_diagnostics"]])))
    if "<ROOT>/cfg" in json.dumps([told, files]):
        raise LeftOut("it names a folder of the engine's own")
    session = {"cwd": cwd, "plugins": listed}
    # The reference keeps warnings apart from diagnostics: what becomes of them is left open.
    warned = expect.get("warnings") or any(one["warnings"] for one in expect.get("plugins", []))
    wanted = {} if warned else {"load_diagnostics": told}
    for made in each_event(vector, "Stop", by_event, wanted, files=files, session=session):
        made["invocation"]["context"]["cwd"] = cwd
        made["handlers"] = {**made["handlers"], **{word: {} for word in sorted(words_in(given["fs"]))}}
        yield made


def words_in(specs):
    text = json.dumps(specs)
    return set(re.findall(r'\\"command\\": \\"([a-z0-9_-]+)\\"', text)) - BUILTINS


STATE = {
    "plugin_state": "<CONFIG>/.state/plugin_state.json",
    "installed_plugins": "<CONFIG>/.state/installed_plugins.json",
}


def internal(vector):
    raise LeftOut("it is inside an engine, or a matter of hooksd's own wire")
    yield


AREAS = {
    "charclass": internal,
    "config": config,
    "env": env,
    "legacy": legacy,
    "matcher": matcher,
    "plugins": plugins,
    "projection": projection,
    "reduce": reduce,
    "terminal": terminal,
    "transport": internal,
    "trust": trust,
}


class Spelled:
    """JSON text that must stay as it is."""

    def __init__(self, text):
        self.text = text


def hexed(value):
    """The same with bytes in hexadecimal."""
    if isinstance(value, dict):
        if set(value) == {"base64"}:
            return {"hex": base64.b64decode(value["base64"]).hex()}
        return {key: hexed(part) for key, part in value.items()}
    return [hexed(part) for part in value] if isinstance(value, list) else value


def line(made):
    spelled = made["invocation"].text if isinstance(made["invocation"], Spelled) else None
    if spelled is None:
        return json.dumps(made, separators=(",", ":"))
    made = {**made, "invocation": "\0"}
    return json.dumps(made, separators=(",", ":")).replace('"\\u0000"', spelled, 1)


def scenarios(vector, make):
    for beginning, reason in LEFT_OUT.items():
        if f"{vector['id']}/".startswith(beginning):
            raise LeftOut(reason)
    if any(mark in json.dumps(vector) for mark in ('"$repeat"', '"$long"')):
        raise LeftOut("its text is too long for a line")
    if vector.get("decision") and vector["decision"] not in ("D7", "D17"):
        raise LeftOut("hooksd differs from the reference on purpose")
    made = [hexed(one) for one in make(vector)]
    if any("\\ud8" in one or "\\udc" in one for one in map(lone, made)):
        raise LeftOut("it has text that is no Unicode")
    return made


def lone(made):
    """The scenario's text where it has half a surrogate pair."""
    try:
        json.dumps(json.loads(line(made)), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "\\ud8"
    return ""


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for area, make in AREAS.items():
        vectors = [json.loads(text) for text in (VECTORS / f"{area}.jsonl").read_text().splitlines() if text.strip()]
        lines, reasons, used = [], collections.Counter(), 0
        for vector in vectors:
            try:
                made = scenarios(vector, make)
            except LeftOut as left:
                reasons[str(left)] += 1
                continue
            used += 1
            lines += [line(one) for one in made]
        if lines:
            (out / f"{area}.jsonl").write_text("".join(f"{one}\n" for one in lines))
        why = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
        rows.append(f"| {area} | {len(vectors)} | {used} | {len(lines)} | {why} |")
    (out / "README.md").write_text(HEAD + "\n".join(rows) + "\n")


HEAD = """# The scenarios

Made by `tests/suite/generate.py` from the vectors in `tests/conformance`, but for `cases.jsonl`, which is written by
hand. What a line means is in [docs/conformance.md](../../../docs/conformance.md).

| area | vectors | seen from outside | scenarios | left out |
| --- | --- | --- | --- | --- |
"""

if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
