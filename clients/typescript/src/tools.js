// opencode's tools as handlers know them: names and arguments of Claude Code, which matchers are written for.

/** @type {Record<string, { name: string, args: Record<string, string> }>} opencode's argument first */
const TOOLS = {
  bash: { name: "Bash", args: {} },
  edit: {
    name: "Edit",
    args: { filePath: "file_path", oldString: "old_string", newString: "new_string", replaceAll: "replace_all" },
  },
  write: { name: "Write", args: { filePath: "file_path" } },
  read: { name: "Read", args: { filePath: "file_path" } },
  glob: { name: "Glob", args: {} },
  grep: { name: "Grep", args: { include: "glob" } },
  list: { name: "LS", args: {} },
  webfetch: { name: "WebFetch", args: {} },
};

/**
 * A call in the terms of handlers. Tools and arguments that are not known keep their names.
 *
 * @param {string} id
 * @param {string} tool
 * @param {Record<string, any>} args
 */
export function toCall(id, tool, args) {
  const known = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  return { id, name: known?.name ?? tool, args: renamed(args, known?.args ?? {}) };
}

/**
 * Arguments that a handler has rewritten, in opencode's terms.
 *
 * @param {string} tool
 * @param {Record<string, any>} args
 */
export function fromArgs(tool, args) {
  const known = Object.hasOwn(TOOLS, tool) ? TOOLS[tool].args : {};
  return renamed(args, Object.fromEntries(Object.entries(known).map(([own, theirs]) => [theirs, own])));
}

/** @param {Record<string, any>} args @param {Record<string, string>} names */
function renamed(args, names) {
  return Object.fromEntries(Object.entries(args ?? {}).map(([key, value]) => [names[key] ?? key, value]));
}
