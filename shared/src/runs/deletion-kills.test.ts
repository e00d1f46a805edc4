import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";

const word = "Xylophagous";
const script = join(import.meta.dir, "../testing/runs/deleting-process.ts");

/**
 * Makes a home with two ended runs, each with a journal, a file and a workspace; returns the ids.
 */
async function makeHome(home: string): Promise<string[]> {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  engine.work([{ kind: "manus", execute: (run) => run.step("s", async () => word) }]);
  const ids: string[] = [];
  for (const contextId of ["a", "b"]) {
    const file = await artifacts.put(new TextEncoder().encode(`${word} ${contextId}`), { name: "a.txt" });
    const events = [{ type: "artifact-added", artifactId: "a", name: word, parts: [{ type: "file", ...file }] }];
    const { run } = await engine.start({ kind: "manus", input: word, principal: "local", contextId, events });
    for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(20_000) }));
    const { root } = await openWorkspace({ home, principal: "manus/local", contextId });
    await writeFile(join(root, "a.txt"), word);
    ids.push(run.id);
  }
  await engine.close();
  return ids;
}

function filesWith(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path).includes(text));
}

async function execute(args: readonly string[], crashAt?: string): Promise<number> {
  const env = { PATH: process.env.PATH ?? "", ...(crashAt !== undefined && { CRASH_AT: crashAt }) };
  return Bun.spawn([process.execPath, script, ...args], { env, stdin: "ignore", stdout: "inherit", stderr: "inherit" })
    .exited;
}

test.each(["runs that a caller names", "what retention lets go"])(
  "whichever write a kill hits while %s is deleted, the next time finishes it, and leaves no word",
  async (what) => {
    const folder = mkdtempSync(join(tmpdir(), "deletion-kills-"));
    const original = mkdtempSync(join(folder, "original-"));
    const ids = await makeHome(original);
    const named = what.startsWith("runs") ? ids : [];
    let killed = 0;
    for (let transaction = 1; ; transaction++) {
      const codes: number[] = [];
      for (const when of ["", "+"]) {
        const home = join(folder, `${transaction}${when}`);
        cpSync(original, home, { recursive: true });
        codes.push(await execute([home, ...named], `${transaction}${when}`));
        expect(await execute([home, ...named])).toBe(0);
        // Files of a run that is gone go with the files of no run.
        expect(await execute([home])).toBe(0);
        expect(filesWith(home, word)).toEqual([]);
        expect(
          existsSync(join(home, "workspaces/.leaving")) ? readdirSync(join(home, "workspaces/.leaving")) : [],
        ).toEqual([]);
        rmSync(home, { recursive: true });
      }
      killed += codes.filter((code) => code === 137).length;
      if (codes.every((code) => code === 0)) break;
    }
    expect(killed).toBeGreaterThan(5);
    rmSync(folder, { recursive: true });
  },
  180_000,
);
