import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
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
  const events = [{ type: "message-received", ...message }];
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
  expect(cli.out()).toStartWith("Would delete 2 runs, the journals of 0, 0 workspaces, 0 files.\n");
  for (const id of ended) expect(cli.out()).toContain(`  run ${id}\n`);
  expect(await cli.run("prune", "--compact", "--json")).toBe(0);
  const told = JSON.parse(cli.out().slice(cli.out().indexOf("{")));
  expect(told.runs.toSorted()).toEqual(ended.toSorted());
  expect(await cli.run("runs", "list", "--json")).toBe(0);
  expect(cli.out()).toContain(open);
});

test("a run is exported with its events and files, to a file that does not exist yet", async () => {
  await using cli = await cliForTest({});
  const { ended, sha256 } = await withRuns(cli.cwd);
  expect(await cli.run("runs", "export", ended[0] ?? "", "run.jsonl")).toBe(0);
  const lines = (await Bun.file(join(cli.cwd, "run.jsonl")).text()).trimEnd().split("\n");
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries.map(({ type }) => type)).toEqual(["run", "event", "file", "event"]);
  expect(entries[0]).toMatchObject({ id: ended[0], status: "canceled" });
  expect(entries[2]).toMatchObject({ sha256, path: `run.jsonl.files/${sha256}/a.txt` });
  expect(await Bun.file(join(cli.cwd, entries[2].path)).text()).toBe("x");
  expect(await cli.run("runs", "export", ended[0] ?? "", "run.jsonl")).toBe(1);
  expect(await cli.run("runs", "export", "none", "none.jsonl")).toBe(1);
  expect(existsSync(join(cli.cwd, "none.jsonl"))).toBe(false);
});
