import { expect, spyOn, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import * as sweeping from "manyhands/internal/runs/sweep";
import * as engines from "manyhands/internal/server/storage/open-engine";
import { cliForTest } from "../../testing/cli.ts";

/** A home with two ended runs, the first with a file, and one that waits. */
async function withRuns(cwd: string): Promise<{ ended: string[]; open: string; sha256: string }> {
  const home = join(cwd, ".manyhands");
  await mkdir(home);
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const file = await createArtifactStore(join(home, "artifacts")).put(new TextEncoder().encode("x"), { name: "a.txt" });
  const message = { messageId: "m", parts: [{ type: "file", ...file }] };
  const start = async (over: object) =>
    (await engine.start({ kind: "manus", input: { message }, principal: "local", contextId: "c", ...over })).run.id;
  const again = {
    type: "artifact-added",
    artifactId: "a",
    name: "a",
    parts: [{ type: "file", ...file, name: "../b" }],
  };
  const events = [{ type: "message-received", ...message }, again];
  const ended = [
    await start({ events, canceled: true, contextId: "other" }),
    await start({ canceled: true, contextId: "third" }),
  ];
  const open = await start({});
  await engine.close();
  return { ended, open, sha256: file.sha256 };
}

const artifactsOf = (cwd: string) =>
  readdirSync(join(cwd, ".manyhands/artifacts"), { recursive: true }).filter((name) => String(name).length > 60);

test("runs are deleted after a yes, with their files; one that has not ended is refused", async () => {
  await using cli = await cliForTest({ answers: ["no", "yes"] });
  const { ended, open } = await withRuns(cli.cwd);
  expect(await cli.run("runs", "delete", ...ended)).toBe(1);
  expect(cli.said()).toContain("Nothing is deleted.");
  expect(await cli.run("runs", "delete", open, "--yes")).toBe(1);
  expect(cli.said()).toContain(`The run ${open} has not ended. Cancel it first.`);
  expect(artifactsOf(cli.cwd)).toHaveLength(1);
  expect(await cli.run("runs", "delete", ...ended)).toBe(0);
  expect(cli.said()).toContain(`Deleted ${ended[0]}.\nDeleted ${ended[1]}.`);
  expect(artifactsOf(cli.cwd)).toEqual([]);
  expect(await cli.run("runs", "delete", ended[0] ?? "", "--yes")).toBe(1);
});

test("a yes is a whole yes, and a run that went with another one is not missed", async () => {
  await using cli = await cliForTest({ answers: ["yesterday", "y"] });
  await mkdir(join(cli.cwd, ".manyhands"));
  const engine = createEmbeddedEngine({ path: join(cli.cwd, ".manyhands/runs.db") });
  const about = { principal: "local", contextId: "c", input: {}, canceled: true };
  const { run: task } = await engine.start({ ...about, kind: "swe" });
  const accepted = { type: "agent-accepted", askId: "a", agent: "swe", taskId: task.id, contextId: "c" };
  const { run } = await engine.start({ ...about, kind: "manus", events: [accepted] });
  await engine.close();
  expect(await cli.run("runs", "delete", run.id, task.id)).toBe(1);
  expect(cli.said()).toContain("Nothing is deleted.");
  expect(await cli.run("runs", "delete", run.id, task.id, "--json")).toBe(0);
  expect(JSON.parse(cli.out())).toEqual({ deleted: [run.id, task.id], elsewhere: [] });
});

test("where nobody can be asked, nothing is deleted without --yes", async () => {
  await using cli = await cliForTest({});
  const { ended } = await withRuns(cli.cwd);
  expect(await cli.run("runs", "delete", ...ended)).toBe(1);
  expect(cli.said()).toContain("Nothing is deleted. Answer yes, or use --yes.");
  expect(artifactsOf(cli.cwd)).toHaveLength(1);
});

test("prune says what retention lets go, and deletes it", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_RETENTION_RUNS: "0", MANYHANDS_A2A_DEDUPE: "off" } });
  const { ended, open } = await withRuns(cli.cwd);
  expect(await cli.run("prune", "--dry-run")).toBe(0);
  expect(cli.out()).toStartWith(
    "Would delete 2 runs with what they asked for here, 0 journals, 0 workspaces and 0 files.\n",
  );
  for (const id of ended) expect(cli.out()).toContain(`  run ${id}\n`);
  const before = await readFile(join(cli.cwd, ".manyhands/runs.db"));
  expect(await cli.run("prune", "--dry-run", "--compact")).toBe(0);
  expect(before.equals(await readFile(join(cli.cwd, ".manyhands/runs.db")))).toBe(true);
  expect(await cli.run("prune", "--compact", "--json")).toBe(0);
  const told = JSON.parse(cli.out().slice(cli.out().indexOf("{")));
  expect(told.runs.toSorted()).toEqual(ended.toSorted());
  expect(told).toMatchObject({ more: false });
  expect(await cli.run("runs", "list", "--json")).toBe(0);
  expect(cli.out()).toContain(open);
});

test("a dry run says that the runs that others asked for go with them, and what waits for the window of dedupe", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_RETENTION_RUNS: "0" } });
  await withRuns(cli.cwd);
  const waits =
    "Runs are kept until 24 h after they were accepted, as a message sent again is the same run ([a2a] dedupe).";
  for (const [options, said] of [
    [["--dry-run"], "There is nothing to delete.\n"],
    [[], "There is nothing to delete.\n"],
  ] as const) {
    expect(await cli.run("prune", ...options)).toBe(0);
    expect(cli.out()).toEndWith(said);
  }
  expect(cli.said()).toBe(`${waits}\n${waits}\n`);
});

test("prune deletes all that retention lets go, however many runs that are", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_RETENTION_RUNS: "0", MANYHANDS_A2A_DEDUPE: "off" } });
  await mkdir(join(cli.cwd, ".manyhands"));
  const engine = createEmbeddedEngine({ path: join(cli.cwd, ".manyhands/runs.db") });
  for (let n = 0; n < 501; n++)
    await engine.start({ kind: "manus", input: {}, principal: "local", contextId: `c${n}`, canceled: true });
  await engine.close();
  expect(await cli.run("prune", "--dry-run")).toBe(0);
  expect(cli.out()).toStartWith("Would delete at least 500 runs");
  expect(await cli.run("prune")).toBe(0);
  expect(cli.out()).toContain("Deleted 501 runs");
});

test("prune goes on until nothing is left to delete, and then rewrites the store, however large it is", async () => {
  const left = { runs: ["r"], journals: 1, workspaces: ["w"], artifacts: ["a"], more: true };
  using sweep = spyOn(sweeping, "sweep").mockResolvedValue({ ...left, more: false });
  for (let n = 0; n < 3; n++) sweep.mockResolvedValueOnce(left);
  const scrubbed: unknown[] = [];
  let isFree = true;
  const scrub = async (how: object) => {
    scrubbed.push(how);
    return isFree;
  };
  const engine = { scrub, close: async () => undefined };
  using _ = spyOn(engines, "openStore").mockResolvedValue(engine as never);
  await using cli = await cliForTest({ env: { MANYHANDS_A2A_DEDUPE: "3h", MANYHANDS_RETENTION_RUNS: "2d" } });
  expect(await cli.run("prune", "--compact")).toBe(0);
  expect(cli.out()).toBe("Deleted 4 runs, 4 journals, 4 workspaces and 4 files.\n");
  expect([sweep.mock.calls.length, scrubbed]).toEqual([4, [{ evenLarge: true }]]);
  expect([await cli.run("prune", "--compact", "--dry-run"), scrubbed.length]).toEqual([0, 1]);
  isFree = false;
  expect(await cli.run("prune", "--compact")).toBe(1);
  expect(cli.said()).toContain("The store is in use");
  for (const [deps] of sweep.mock.calls)
    expect(deps).toMatchObject({ dedupeMs: 3 * 3_600_000, retention: { runsMs: 2 * 86_400_000 } });
});

test("an export is for its owner alone, and the name of a file leads to no other folder", async () => {
  await using cli = await cliForTest({});
  const home = join(cli.cwd, ".manyhands");
  await mkdir(home);
  const file = await createArtifactStore(join(home, "artifacts")).put(new TextEncoder().encode("x"), { name: "a.txt" });
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const parts = [{ type: "file", ...file, name: "../../../evil.txt" }];
  const events = [{ type: "artifact-added", artifactId: "a", name: "a", parts }];
  const about = { kind: "manus", input: {}, principal: "local", contextId: "c", canceled: true };
  const { run: asked } = await engine.start({ ...about, kind: "swe", events });
  const accepted = { type: "agent-accepted", askId: "a", agent: "swe", taskId: asked.id, contextId: "c" };
  const { run } = await engine.start({ ...about, events: [accepted] });
  await engine.close();
  expect(await cli.run("runs", "export", run.id, "run.jsonl")).toBe(0);
  const lines = (await Bun.file(join(cli.cwd, "run.jsonl")).text()).trimEnd().split("\n");
  // What it asked for goes along, with the files of that.
  expect(lines.flatMap((line) => JSON.parse(line).id ?? [])).toEqual([run.id, asked.id]);
  const folder = join(cli.cwd, "run.jsonl.files", file.sha256);
  expect(readdirSync(folder)).toEqual(["evil.txt"]);
  const modes = [join(cli.cwd, "run.jsonl"), folder].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
});

test("a run is exported with its events and files, to a file that does not exist yet", async () => {
  await using cli = await cliForTest({});
  const { ended, sha256 } = await withRuns(cli.cwd);
  expect(await cli.run("runs", "export", ended[0] ?? "", "run.jsonl")).toBe(0);
  const lines = (await Bun.file(join(cli.cwd, "run.jsonl")).text()).trimEnd().split("\n");
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries.map(({ type }) => type)).toEqual(["run", "event", "file", "event", "event"]);
  expect(entries[0]).toMatchObject({ id: ended[0], status: "canceled" });
  expect(entries[2]).toMatchObject({ sha256, path: `run.jsonl.files/${sha256}/a.txt` });
  expect(await Bun.file(join(cli.cwd, entries[2].path)).text()).toBe("x");
  expect(await cli.run("runs", "export", ended[0] ?? "", "run.jsonl")).toBe(1);
  expect((await Bun.file(join(cli.cwd, "run.jsonl")).text()).trimEnd().split("\n")).toEqual(lines);
  expect(await cli.run("runs", "export", "none", "none.jsonl")).toBe(1);
  expect(existsSync(join(cli.cwd, "none.jsonl"))).toBe(false);
});
