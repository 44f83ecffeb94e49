"""A hook engine of one page, to show what `hooksctl conformance --agent-command` asks of one.

    hooksctl conformance --agent-command "python3 clients/conformance/naive.py"

It knows documents, names and expressions, exit statuses and the plain answers; it leaves out trust that is kept, plugins,
the older form, and much that people get wrong in their documents. The table shows it.
"""

import json
import pathlib
import re
import subprocess
import sys

DENIES = {"PreToolUse", "PermissionRequest"}
STOPS = {"UserPromptSubmit", "PreCompact"}


def matches(matcher, payload):
    """Whether a group is for the event."""
    targets = ("tool_name", "source", "reason", "trigger", "agent_type", "notification_type")
    target = next((payload[key] for key in targets if key in payload), None)
    if not matcher or matcher == "*" or target is None:
        return True
    if re.fullmatch(r"[\w\s,|-]+", matcher):
        return target in [name.strip() for name in re.split(r"[|,]", matcher)]
    return re.search(matcher, target) is not None


def handlers(request):
    """The handlers of the event: the project's first, where it is trusted."""
    places = [pathlib.Path(request["config_dir"])]
    if request["trust"] == "explicit":
        places.insert(0, pathlib.Path(request["cwd"], ".deepagents"))
    event = request["payload"]["hook_event_name"]
    for place in places:
        if (place / "hooks.json").is_file():
            document = json.loads((place / "hooks.json").read_text())
            for group in document["hooks"].get(event, []):
                if matches(group.get("matcher"), request["payload"]):
                    yield from group["hooks"]


def main():
    request = json.loads(sys.stdin.readline())
    if request["payload"] is None or request["plugins"]:
        return {"unsupported": "this engine begins with the payload, and knows no plugins"}
    event = request["payload"]["hook_event_name"]
    text = json.dumps(request["payload"])
    env = {name: value for name, value in request["env"].items() if not re.search("KEY|TOKEN|SECRET|PASSWORD", name, re.I)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = []
    for handler in handlers(request):
        words = handler.get("argv") or ["/bin/sh", "-c", handler["command"]]
        started.append(subprocess.Popen(words, cwd=request["cwd"], env=env, text=True, **pipes))
    decision = {"context": [], "feedback": []}
    for process in started:
        said, complaint = process.communicate(text)
        reason = complaint.strip() or "Hook blocked the operation"
        if process.returncode == 2 and event in DENIES:
            decision.setdefault("permission", {"behavior": "deny", "reason": reason})
        elif process.returncode == 2 and event in STOPS:
            decision.update(continue_processing=False, stop_reason=decision.get("stop_reason", reason))
        elif process.returncode == 2:
            decision["feedback"].append(reason)
            decision["continue_loop"] = event == "Stop"
        elif process.returncode == 0 and said.strip() and not said.startswith("{"):
            if event in ("SessionStart", "UserPromptSubmit"):
                decision["context"].append(said.strip())
    return {"decision": decision}


if __name__ == "__main__":
    print(json.dumps(main()))
