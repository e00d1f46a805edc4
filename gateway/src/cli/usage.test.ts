import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import { setupUsage } from "../setup/usage.ts";
import type { ShownState, TaskItem } from "../tasks/task-item.ts";
import { cliForTest } from "../testing/cli.ts";

const at = (state: ShownState): TaskItem => ({ kind: "state", taskId: "t1", contextId: "c1", state });
const play = async function* () {
  yield at("completed");
};

test("a mistyped subcommand is refused with the likely one, even if the group is a command itself", async () => {
  for (const [group, typed, meant] of [
    ["runs", "shw", "show"],
    ["agents", "ad", "add"],
    ["mcp", "tset", "test"],
  ] as const) {
    await using cli = await cliForTest({ env: { GATEWAY_PORT: "1" } });
    expect(await cli.run(group, typed)).toBe(2);
    expect(cli.said()).toContain(`unknown command '${typed}'`);
    expect(cli.said()).toContain(`(Did you mean ${meant}?)`);
    expect(cli.out()).toBe("");
  }
});

test("an unknown agent or flow is a usage error, with the list of known ones", async () => {
  await using cli = await cliForTest({ env: { GATEWAY_PORT: "1" } });
  await mkdir(join(cli.cwd, ".manyhands"));
  const agents = [{ name: "painter", url: "http://127.0.0.1:1" }];
  await writeFile(join(cli.cwd, ".manyhands/agents.json"), JSON.stringify({ agents }));
  for (const command of [
    ["run", "x", "--agent", "nobody"],
    ["chat", "--agent", "nobody"],
  ]) {
    expect(await cli.run(...command)).toBe(2);
    expect(cli.said()).toContain('There is no agent "nobody". There are: manus, browser, swe, data-analysis, painter;');
  }
  for (const command of [
    ["run", "x", "--flow", "nothing"],
    ["flow", "nothing", "x"],
    ["chat", "--flow", "nothing"],
    ["runs", "list", "--flow", "nothing"],
  ]) {
    expect([command, await cli.run(...command)]).toEqual([command, 2]);
    expect(cli.said()).toContain('There is no flow "nothing". There are: ');
  }
});

test("a registered agent is reached through the gateway", async () => {
  await using cli = await cliForTest({ play });
  expect(await cli.run("run", "x", "--agent", "painter")).toBe(0);
  expect(cli.connected).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/a2a\/painter$/)]);
  expect(cli.said()).toContain('manyhands run --agent painter --context c1 "…"');
});

test("without a task, or with a dash, the task is read from standard input", async () => {
  for (const command of [["run"], ["run", "-"], ["flow", "planning"], ["flow", "planning", "-"]]) {
    await using cli = await cliForTest({ play, piped: "Count the primes.\n" });
    expect([command, await cli.run(...command)]).toEqual([command, 0]);
    expect(cli.sent).toMatchObject([{ text: "Count the primes.\n", files: [] }]);
    await using empty = await cliForTest({ play, piped: " \n" });
    expect(await empty.run(...command)).toBe(2);
    expect(empty.said()).toContain("The task is empty");
  }
});

test("input piped in beside a task is sent as a file", async () => {
  await using cli = await cliForTest({ play, piped: "a,b\n1,2\n" });
  for (const more of [[], ["--file", "-"]]) expect(await cli.run("run", "Summarise it", ...more)).toBe(0);
  for (const { text, files } of cli.sent)
    expect([text, files?.map(({ name, bytes }) => [name, bytes.length])]).toEqual(["Summarise it", [["stdin.txt", 8]]]);
  expect(await cli.run("run", "-", "--file", "-")).toBe(2);
  await using nothing = await cliForTest({ play });
  expect(await nothing.run("run", "Summarise it", "--file", "-")).toBe(2);
  expect(nothing.said()).toContain("--file - reads standard input, but nothing is piped in.");
});

test("input and files that no request can carry are refused as soon as they are too large", async () => {
  await using cli = await cliForTest({ play, piped: "x".repeat(4_000_000) });
  await writeFile(join(cli.cwd, "large.txt"), "x".repeat(4_000_000));
  expect(await cli.run("run", "Summarise it", "--file", "large.txt")).toBe(2);
  expect(cli.said()).toContain("exceed 7 MB in total");
  const main = new URL("main.ts", import.meta.url).pathname;
  const endless = Bun.spawn(["sh", "-c", 'yes | "$0" "$1" run -', process.execPath, main], {
    cwd: cli.cwd,
    stdout: "ignore",
    stderr: "pipe",
  });
  expect(await new Response(endless.stderr).text()).toContain("Standard input has more than 7 MB.");
  expect(await endless.exited).toBe(2);
});

test("--schema sends a JSON Schema and the answer comes as data", async () => {
  const data = { total: 3 };
  const answered = {
    kind: "event",
    seq: 2,
    at: 5,
    event: artifact([
      { type: "text", text: "Three." },
      { type: "data", data },
    ]),
  };
  const playing = async function* () {
    yield answered as TaskItem;
    yield at("completed");
  };
  await using cli = await cliForTest({ play: playing });
  await writeFile(join(cli.cwd, "total.json"), '{"type":"object","required":["total"]}');
  await writeFile(join(cli.cwd, "bad.json"), "[1]");
  expect(await cli.run("run", "x", "--schema", "total.json", "--json")).toBe(0);
  expect(JSON.parse(cli.out().trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ text: "Three.", data });
  expect(await cli.run("flow", "planning", "x", "--schema", "total.json")).toBe(0);
  expect(cli.sent).toMatchObject([
    { outputSchema: { type: "object", required: ["total"] } },
    { outputSchema: { type: "object", required: ["total"] } },
  ]);
  expect(await cli.run("run", "x", "--schema", "bad.json")).toBe(2);
  expect(await cli.run("run", "x", "--schema", "none.json")).toBe(2);
  expect(cli.sent.length).toBe(2);
});

function artifact(parts: object[]) {
  return { type: "artifact-added", artifactId: "answer", name: "answer", parts };
}

test("--version prints the version, and setup is among the commands", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("--version")).toBe(0);
  expect(cli.out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await cli.run("--help")).toBe(0);
  expect(cli.out()).toContain("setup");
});

test("setup that is started as an image does it, past what a checkout does first, sees to agents' Python", async () => {
  await using cli = await cliForTest({});
  await writeFile(join(cli.cwd, "manyhands.toml"), "[python]\npackages = 1\n");
  expect(await cli.run("setup")).toBe(0);
  expect(cli.said()).toContain("libraries    not looked at: manyhands.toml, line 2");
});

test("setup prints its usage, and installs nothing for an unknown argument", () => {
  for (const word of ["--help", "-h"]) expect(setupUsage([word])).toMatchObject({ exitCode: 0 });
  expect(setupUsage(["--quiet"])).toBeUndefined();
  expect(setupUsage([])).toBeUndefined();
  expect(setupUsage(["--quite"])).toMatchObject({ exitCode: 2, text: expect.stringContaining("'--quite'") });
});

test("a refusal for lack of a token names the variable to set", async () => {
  await using cli = await cliForTest({
    // biome-ignore lint/correctness/useYield: it is refused before anything comes.
    play: async function* () {
      throw new AppError("unauthorized", "Send this server's token as `Authorization: Bearer TOKEN`.");
    },
  });
  expect(await cli.run("run", "x")).toBe(1);
  expect(cli.said()).toContain("MANYHANDS_TOKEN");
});

test("files are refused if they are too large together", async () => {
  await using cli = await cliForTest({ play });
  await writeFile(join(cli.cwd, "half.bin"), new Uint8Array(4_000_000));
  expect(await cli.run("run", "x", "--file", "half.bin")).toBe(0);
  expect(await cli.run("run", "x", "--file", "half.bin", "--file", "half.bin")).toBe(2);
  expect(cli.said()).toContain("exceed 7 MB in total");
});

test("files made before a question are saved too, always below manyhands-out", async () => {
  const taskId = "../../../outside";
  const made = (name: string) => {
    const parts = [{ type: "file", sha256: "0".repeat(64), name, mediaType: "", size: 3 }];
    return {
      kind: "event",
      seq: 2,
      at: 5,
      event: { ...artifact(parts), artifactId: name, name },
    } as unknown as TaskItem;
  };
  await using cli = await cliForTest({
    play: async function* ({ taskId: answered }) {
      yield { ...at("working"), taskId } as TaskItem;
      yield made(answered === undefined ? "before.txt" : "after.txt");
      yield { ...at(answered === undefined ? "input-required" : "completed"), taskId } as TaskItem;
    },
    answers: ["go on"],
    interactive: true,
  });
  expect(await cli.run("run", "x")).toBe(0);
  for (const name of ["before.txt", "after.txt"])
    expect(await Bun.file(join(cli.cwd, "manyhands-out", "__.._.._outside", name)).exists()).toBe(true);
});

test("the gateway's agents are requested with the token, and its refusals are shown with advice", async () => {
  const tokens: (string | null)[] = [];
  await using gateway = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.url.endsWith("/healthz")) return Response.json({ agent: "gateway" });
      tokens.push(request.headers.get("authorization"));
      if (request.method === "GET") return Response.json({ agents: [] });
      const status = request.method === "POST" ? 424 : 401;
      return Response.json({ code: status === 424 ? "unreachable" : "unauthorized", detail: "No." }, { status });
    },
  });
  const env = { GATEWAY_PORT: String(gateway.port), MANYHANDS_TOKEN: "long-enough-token" };
  await using cli = await cliForTest({ env });
  expect(await cli.run("agents", "list")).toBe(0);
  expect(await cli.run("agents", "add", "http://127.0.0.1:1")).toBe(1);
  expect(cli.said()).not.toContain("MANYHANDS_TOKEN");
  expect(await cli.run("agents", "remove", "x")).toBe(1);
  expect(cli.said()).toContain("Set MANYHANDS_TOKEN");
  expect(tokens).toEqual(tokens.map(() => "Bearer long-enough-token"));
});
