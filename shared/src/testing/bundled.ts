import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** A program of its own as one file, which is removed when the test that uses it is over. */
export type Bundled = AsyncDisposable & { readonly path: string };

/**
 * Bundles a program that tests start dozens of times: from one file it starts several times faster
 * than from its modules. It may not look for files beside itself.
 */
export async function bundled(entry: string): Promise<Bundled> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-bundled-"));
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    outdir: folder,
    target: "bun",
    naming: basename(entry, ".ts").concat(".[ext]"),
  });
  const [main] = outputs;
  if (main === undefined) throw new Error(`${entry} gave no bundle`);
  return { path: main.path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
