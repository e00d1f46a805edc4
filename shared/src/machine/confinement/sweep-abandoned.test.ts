import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
