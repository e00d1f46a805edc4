import { expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAttacked } from "../attacks/obedient-model.ts";

/** A folder with a bwrap that fails like the real one if the kernel allows no user namespaces. */
async function refusedBwrap(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-bwrap-"));
  const script = "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n";
  await writeFile(join(folder, "bwrap"), script);
  await chmod(join(folder, "bwrap"), 0o755);
  await chmod(folder, 0o755);
  return folder;
}

const refused = await refusedBwrap();

test.each([
  ["is not there", "/nonexistent"],
  ["gets no namespaces", `${refused}:${process.env.PATH}`],
])("if bwrap %s, no tool runs commands, whatever the model asks for, and the rest works", async (_, path) => {
  const attacked = await startAttacked({ PATH: path, MANYHANDS_SANDBOX_TIER: "bwrap" });
  try {
    expect(await (await fetch(`${attacked.manus.url}/healthz`)).json()).toMatchObject({ sandbox: "none" });
    const results = await attacked.obey("unconfined", [
      { name: "bash", args: { command: "echo ran >proof" } },
      { name: "python_execute", args: { code: "open('proof', 'w')" } },
      { name: "str_replace_editor", args: { command: "create", path: "note.txt", file_text: "hello" } },
    ]);
    expect(results).toEqual([
      expect.stringContaining('There is no tool named "bash"'),
      expect.stringContaining('There is no tool named "python_execute"'),
      "File created successfully at: note.txt",
    ]);
    const offered = attacked.model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
    expect(offered).toContain("str_replace_editor");
    expect(offered.filter((name) => ["bash", "python_execute", "computer_use"].includes(name))).toEqual([]);
    expect(await Array.fromAsync(new Bun.Glob("**/proof").scan(attacked.home))).toEqual([]);
  } finally {
    await attacked.close();
    if (path !== "/nonexistent") await rm(refused, { recursive: true });
  }
});
