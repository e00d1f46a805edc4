import { expect, test } from "bun:test";
import { exists, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import { startOf } from "../kernel/process-table.ts";
import { sweepAbandoned } from "./sweep-abandoned.ts";

test("what killed servers had in a workspace is removed, also one that nobody uses again; what is used stays", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-swept-"));
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  await sweepAbandoned(home);
  const workspace = join(home, "workspaces", "0123");
  const [killed, alive] = [`-${ended.pid}-5-0123abcd`, `-${process.pid}-${startOf(process.pid)}-0123abcd`];
  const kept = ["files", "meta", `db${alive}`, `meta/loopback${alive}`, "meta/content", `files/db${killed}`];
  for (const name of [...kept, `db${killed}`, `meta/loopback${killed}`, `db${killed}/spilled`])
    await mkdir(join(workspace, name), { recursive: true });
  await sweepAbandoned(home);
  expect((await readdir(workspace, { recursive: true })).toSorted()).toEqual(kept.toSorted());
  await rm(home, { recursive: true });
});

test("a workspace that cannot be cleaned up is told, once the others have been", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-swept-"));
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const left = join(home, "workspaces", "2", `db-${ended.pid}-5-0123abcd`);
  await mkdir(left, { recursive: true });
  // Where a workspace's folder should be is a file.
  await Bun.write(join(home, "workspaces", "1"), "");
  const failure = await sweepAbandoned(home).catch((error) => error);
  expect(failure).toBeInstanceOf(AggregateError);
  expect(failure.errors.map((error: unknown) => errnoOf(error))).toEqual(["ENOTDIR", "ENOTDIR"]);
  expect(await exists(left)).toBe(false);
  await rm(home, { recursive: true });
});
