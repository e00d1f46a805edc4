import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const tiers = await availableTiers();

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let shown: string;
  beforeAll(async () => {
    open = await openTier(tier);
    // Only the sandbox prevents a command from writing there.
    shown = await mkdtemp(join(tmpdir(), "manyhands-shown-"));
    await chmod(shown, 0o777);
    await writeFile(join(shown, "file"), "as it was");
    await chmod(join(shown, "file"), 0o666);
  });
  afterAll(() => Promise.all([open.close(), rm(shown, { recursive: true })]));

  test("a command cannot write, remove, rename or add to what it may only read", async () => {
    const script = `cat ${shown}/file; cd ${shown}; for act in 'echo x >file' 'echo x >new' 'mkdir made' 'rm file' 'mv file moved' 'ln -s file link'; do
      sh -c "$act" 2>/dev/null && echo "done: $act"; done; true`;
    const command = { argv: ["bash", "-c", script], workspace: open.workspace, paths: { read: [shown], write: [] } };
    const { stdout } = await runCommand(open.sandbox, command, { signal: AbortSignal.timeout(60_000) });
    expect(stdout).toBe("as it was");
    expect(await readdir(shown)).toEqual(["file"]);
    expect(await Bun.file(join(shown, "file")).text()).toBe("as it was");
  });
});
