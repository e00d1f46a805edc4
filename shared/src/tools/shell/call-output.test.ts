import { expect, spyOn, test } from "bun:test";
import { statSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as ownedFolder from "../../machine/process/owned-folder.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { withCallOutput } from "./call-output.ts";

const kilobyte = 1024;

/** Sizes of the files in which calls of this process keep their output. */
const kept = () =>
  [...new Bun.Glob(`manyhands-output-${process.pid}-*/output`).scanSync(tmpdir())].map(
    (path) => statSync(join(tmpdir(), path)).size,
  );

/** Who may read them. */
const modes = () =>
  [...new Bun.Glob(`manyhands-output-${process.pid}-*/output`).scanSync(tmpdir())].map(
    (path) => statSync(join(tmpdir(), path)).mode & 0o777,
  );

test("a flood is in its file as it comes, and none of it waits in memory for the disk", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-call-output-"));
  const workspace = await openWorkspace({ home, principal: "p", contextId: "c" });
  const chunk = new Uint8Array(64 * kilobyte).fill(120);
  const text = await withCallOutput(contextForTest(workspace), "bash.txt", async (output) => {
    output.listen("stdout", chunk.subarray(0, 10));
    expect(kept()).toEqual([]);
    for (let at = 1; at <= 100; at++) {
      output.listen("stdout", chunk);
      expect(kept()).toEqual([10 + at * chunk.length]);
      expect(modes()).toEqual([0o600]);
    }
    const text = await output.text();
    expect(text).toEndWith(`: ${output.kept().keptAt}]`);
    return text;
  });
  const [, path = ""] = /\[whole output, 6553610 bytes: (\S+)\]$/.exec(text) ?? [];
  expect(statSync(join(workspace.root, path)).size).toBe(6_553_610);
  expect(kept()).toEqual([]);
  await rm(home, { recursive: true });
});

test("a long standard error alone has its file too", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-call-output-"));
  const workspace = await openWorkspace({ home, principal: "p", contextId: "c" });
  await withCallOutput(contextForTest(workspace), "python.txt", async (output) => {
    output.listen("stderr", new Uint8Array(100 * kilobyte).fill(120));
    expect(await output.text()).toEndWith(`[whole output, 102400 bytes: ${output.kept().keptAt}]`);
  });
  await rm(home, { recursive: true });
});

test("of a call that has no result only the output of one that was given up is kept", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-call-output-"));
  const workspace = await openWorkspace({ home, principal: "p", contextId: "c" });
  const told: string[] = [];
  const failing = (isAborted: boolean, output: string) => {
    const signal = isAborted ? AbortSignal.abort() : new AbortController().signal;
    const context = { ...contextForTest(workspace), signal, progress: (text: string) => void told.push(text) };
    return withCallOutput(context, "bash.txt", async ({ listen }) => {
      const bytes = new TextEncoder().encode(output);
      if (output !== "") listen("stdout", bytes);
      // They may be overwritten after the call.
      bytes.fill(0);
      throw new Error("no result");
    });
  };
  for (const [isAborted, output] of [
    [true, ""],
    [false, "said"],
    [true, "said"],
  ] as const)
    await expect(failing(isAborted, output)).rejects.toThrow("no result");
  expect(await readdir(join(workspace.root, ".manyhands/output"))).toEqual(["0001-bash.txt"]);
  expect(await Bun.file(join(workspace.root, ".manyhands/output/0001-bash.txt")).text()).toBe("said");
  expect(told.filter((text) => text.includes("so far"))).toEqual([
    "\n[the output so far: .manyhands/output/0001-bash.txt]\n",
  ]);
  await rm(home, { recursive: true });
});

test("a call that was given up ends as that, also where its output cannot be kept", async () => {
  const reason = new Error("given up");
  const told: string[] = [];
  const spill = () => Promise.reject(new Error("The disk is full."));
  const context = {
    signal: AbortSignal.abort(),
    workspace: { spill },
    progress: (text: string) => void told.push(text),
  };
  const call = withCallOutput(context as never, "bash.txt", async ({ listen }) => {
    listen("stdout", Buffer.from("said"));
    throw reason;
  });
  expect(await call.catch((error: unknown) => error)).toBe(reason);
  expect(told).toEqual(["said"]);
});

test("output that could not be kept whole is not told as whole, and no file stays open", async () => {
  const spilled: Blob[] = [];
  const spill = async (_: string, content: Blob) => `${spilled.push(content)}.txt`;
  const context = contextForTest({ spill } as never);
  const flood = new Uint8Array(70 * kilobyte).fill(120);
  const call = (bytes: Uint8Array) =>
    withCallOutput(context, "bash.txt", async (output) => {
      output.listen("stdout", bytes);
      return await output.text();
    });
  const open = async () => (await readdir("/proc/self/fd").catch(() => [])).length;
  await call(flood);
  const before = await open();
  for (let at = 0; at < 20; at++) await call(flood);
  expect(await open()).toBeLessThan(before + 15);
  using _ = spyOn(ownedFolder, "makeOwnedFolderSync").mockImplementation(() => {
    throw new Error("The disk is full.");
  });
  await expect(call(flood)).rejects.toThrow("The disk is full.");
  expect(spilled).toHaveLength(21);
});
