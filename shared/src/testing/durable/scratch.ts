import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder for one test: a store's path and an effects file in it. Removed when it goes out of
 * scope.
 */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "durable-"));
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  return {
    folder,
    effects,
    path: join(folder, "runs.db"),
    /** How often each effect happened, by step key. */
    effectCounts(): Map<string, number> {
      const counts = new Map<string, number>();
      for (const line of readFileSync(effects, "utf8").split("\n").filter(Boolean)) {
        const key = line.slice(0, line.indexOf(" "));
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return counts;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
