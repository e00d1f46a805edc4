import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ForgeServer, startForgeServer } from "manyhands/internal/testing/code/forge-server";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { rpc, textMessage, type Wire } from "../a2a/rpc.ts";
import { yes } from "../attacks/attacked-agent.ts";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

const repository = "ann/sums";
const code = `
printf 'def total(numbers):\\n    return sum(numbers[1:])\\n' > sums.py
printf 'import unittest\\nfrom sums import total\\n\\nclass Total(unittest.TestCase):\\n    def test_all(self):\\n        self.assertEqual(total([1, 2, 3]), 6)\\n' > test_sums.py
git add . && git commit -qm first`;

let home: string;
let forge: ForgeServer;
let model: ScriptedModel;
let swe: AgentServer;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "pull-request-"));
  await chmod(home, 0o711);
  forge = await startForgeServer();
  await forge.git.make(repository, code);
  forge.issues.set(`${repository}#7`, { title: "total() is wrong", body: "total([1, 2, 3]) is 5.", comments: [] });
  model = await startScriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
    return { calls: [work(results)] };
  });
  await writeFile(
    join(home, "manyhands.toml"),
    `[egress]\nallow = ["${forge.host}"]\n[git."${forge.host}"]\nkind = "gitea"\ntoken_env = "FORGE_TOKEN"\napi = "${forge.origin}/api/v1"\n`,
  );
  swe = await start();
}, 60_000);

afterAll(async () => {
  await swe.stop("SIGKILL");
  await Promise.all([model.close(), forge.close()]);
  await rm(home, { recursive: true });
});

async function start(): Promise<AgentServer> {
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  const server = startAgent("swe", {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    FORGE_TOKEN: forge.token,
    ...scripted,
  });
  await server.ready;
  return server;
}

/** What a model does after these results. */
function work(results: readonly string[]): { name: string; args: Record<string, unknown> } {
  const url = `${forge.origin}/${repository}`;
  const edit = { command: "str_replace", path: "app/sums.py", old_str: "numbers[1:]", new_str: "numbers" };
  const commit = /[0-9a-f]{40}/.exec(results[5] ?? "")?.[0] ?? "";
  const request = { title: "Count the first number too", body: "Closes #7.\n\nAll tests pass." };
  const steps = [
    { name: "read_issue", args: { url: `${url}/issues/7` } },
    { name: "clone_repository", args: { url, into: "app" } },
    { name: "run_tests", args: { path: "app" } },
    { name: "str_replace_editor", args: edit },
    { name: "run_tests", args: { path: "app" } },
    {
      name: "bash",
      args: { command: "cd app && git commit -qam 'fix: count the first number' && git rev-parse HEAD" },
    },
    { name: "push_branch", args: { folder: "app", branch: "fix/total", commit, ...request } },
  ];
  return steps[results.length] ?? { name: "terminate", args: { status: "success", summary: results.at(-1) ?? "" } };
}

/** The task once it has ended or asks something. */
async function settled(id: string): Promise<Wire> {
  for (const deadline = Date.now() + 90_000; Date.now() < deadline; await Bun.sleep(200)) {
    const task = await rpc(swe.url, "GetTask", { id }).then(
      ({ body }) => body?.result,
      () => undefined,
    );
    if (/COMPLETED|FAILED|REJECTED|INPUT_REQUIRED/.test(task?.status.state ?? "")) return task;
  }
  throw new Error("The task did not end in time.");
}

test.if(Bun.which("git") !== null && Bun.which("python3") !== null)(
  "an issue becomes a pull request with tests run; killed after the push and after its request, it does neither twice",
  async () => {
    const killed: string[] = [];
    forge.afterChange = async (what) => {
      killed.push(what);
      await swe.stop("SIGKILL");
      swe = await start();
    };
    const message = textMessage(`Fix ${forge.origin}/${repository}/issues/7 and open a pull request.`);
    const { body } = await rpc(swe.url, "SendMessage", message);
    const asked = body.result.task;
    expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const question = asked.status.message.parts.map(({ text }: { text: string }) => text).join("");
    const commit = /"commit":\s*"([0-9a-f]{40})"/.exec(question)?.[1] ?? "none";
    expect(question).toContain(
      `Push 1 commit up to ${commit} to branch “fix/total” of ${forge.origin}/${repository}, on top of `,
    );
    expect(question).toContain("fix: count the first number\n1 file differs:\n- sums.py (+1 −1)");
    expect(forge.changes).toEqual([]);
    const answer = textMessage(yes(question), { taskId: asked.id, contextId: asked.contextId });
    // The connection ends with the server.
    await rpc(swe.url, "SendMessage", answer).catch(() => undefined);
    const task = await settled(asked.id);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(killed).toEqual(["push", "open"]);
    expect(forge.changes).toEqual(["push", "open"]);
    expect(forge.opened).toMatchObject([{ head: "fix/total", base: "main", title: "Count the first number too" }]);
    expect(forge.run(repository, "rev-parse", "fix/total")).toBe(commit);
    expect(forge.run(repository, "diff", "--stat", "main", "fix/total")).toContain("1 file changed");
    const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool") ?? [];
    const said = results.map(({ content }) => String(content));
    expect(said[2]).toContain("1 of 1 tests failed");
    expect(said[4]).toContain("The 1 test passed.");
    expect(said[6]).toContain(`Its pull request was open already: ${forge.origin}/${repository}/pulls/1`);
    expect(JSON.stringify(model.requests.map(({ body }) => body))).not.toContain(forge.token);
    for (const file of await readdir(home, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect((await readFile(join(file.parentPath, file.name))).includes(forge.token)).toBe(false);
  },
  120_000,
);
