import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { withCallOutput } from "./call-output.ts";

const kilobyte = 1024;

/** Sizes of the files in which calls of this process keep their output. */
const kept = () =>
  [...new Bun.Glob(`manyhands-output-${process.pid}-*/output`).scanSync(tmpdir())].map(
    (path) => statSync(join(tmpdir(), path)).size,
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
    }
    return output.text();
  });
  const [, path = ""] = /\[whole output, 6553610 bytes: (\S+)\]$/.exec(text) ?? [];
  expect(statSync(join(workspace.root, path)).size).toBe(6_553_610);
  expect(kept()).toEqual([]);
  await rm(home, { recursive: true });
});
