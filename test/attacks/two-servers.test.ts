import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const serverScript = join(import.meta.dir, "../../shared/src/testing/sandbox/shell-process.ts");

/** Waits for a line, then tries to put something into the names that are guarded. */
const patient = `
echo ready; read -r _
for name in .bashrc .profile .mcp.json; do
  if echo planted > "$name"; then echo "$name WRITTEN"; elif rm -f "$name"; then echo "$name REMOVED"; else echo "$name refused"; fi
done 2>/dev/null`;

test.skipIf(!(await availableTiers()).includes("bwrap"))(
  "a command that ends at one server does not free the names that are guarded for a command of another server",
  async () => {
    const { sandbox, workspace, close } = await openTier("bwrap");
    const other = Bun.spawn([process.execPath, serverScript, "bwrap", join(workspace, ".."), workspace, patient], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    try {
      const reader = other.stdout.getReader();
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("ready\n");
      const ended = await runCommand(sandbox, { argv: ["true"], workspace }, { signal: AbortSignal.timeout(60_000) });
      expect(ended.exitCode).toBe(0);
      other.stdin.write("\n");
      other.stdin.end();
      let said = "";
      for (let read = await reader.read(); !read.done; read = await reader.read()) said += Buffer.from(read.value);
      expect(said.trim().split("\n")).toEqual([".bashrc refused", ".profile refused", ".mcp.json refused"]);
      expect(await other.exited).toBe(0);
      expect(await readdir(workspace)).toEqual([]);
    } finally {
      other.kill("SIGKILL");
      await close();
    }
  },
);
