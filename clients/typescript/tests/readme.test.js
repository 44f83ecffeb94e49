// What README shows is what happens.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { PATIENCE, PROJECT, user } from "./world.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("every example prints what is shown", () => {
  user(JSON.parse(readme.match(/```json\n(.*?)```/s)[1]));
  const examples = [...readme.matchAll(/```js\n((?:(?!```).)*)```\n\n```text\n(.*?)```/gs)];
  // The plugin's one line prints nothing.
  assert.equal(examples.length, readme.split("```js\n").length - 2);
  for (const [, code, shown] of examples) {
    const script = code.replaceAll("/home/you/project", PROJECT);
    const options = { cwd: root, encoding: "utf8", timeout: PATIENCE };
    assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", script], options), shown);
  }
});

test("the plugin's one line is one", async () => {
  const [, path] = readme.match(/export \{ HooksdPlugin \} from "\/path\/to\/clients\/typescript\/(.*?)";/);
  assert.equal(typeof (await import(new URL(`../${path}`, import.meta.url))).HooksdPlugin, "function");
});
