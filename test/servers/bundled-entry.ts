import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dir, "../..");
const agents = ["browser", "data-analysis", "manus", "swe"].map((name) => `agents/${name}/src/server.ts`);
const entries = [...agents, "gateway/src/server/main.ts", "gateway/src/cli/main.ts"];

/** A slow machine makes the bundle in this time. */
const madeWithinMs = 120_000;

/**
 * Packages that a server loads as it starts, plain modules. All others stay where they are: they
 * may look for files beside themselves, and are loaded once, whoever imports them.
 */
const bundledToo = /^(?:hono|@a2a-js\/sdk|jose|re2js|croner|smol-toml|jsonrepair|@decimalturn\/toml-patch)(?:\/|$)/;

const ours = /^(?:manyhands|@manyhands\/)/;

const folder = await madeInThisRun();

/**
 * What starts a server whose entry is this module: a bundle of it, or the module itself where there
 * is none. Started so, a server takes a third less processor time than from its modules, and the
 * tests start hundreds. What it starts itself, and the files it reads, are those of the checkout.
 */
export function bundledEntry(entry: string): string {
  const path = resolve(root, entry);
  const bundle = join(folder ?? root, relative(root, path).replace(/\.ts$/, ".js"));
  return folder !== undefined && existsSync(bundle) ? bundle : path;
}

/** The folder of the bundles, which the first test of this run that asks makes for all others. */
async function madeInThisRun(): Promise<string | undefined> {
  const shared = process.env.TEST_RUN_FOLDER;
  if (shared === undefined) return undefined;
  const made = join(shared, "servers");
  if (existsSync(made)) return made;
  const isFirst = await mkdir(`${made}-begun`).then(
    () => true,
    () => false,
  );
  for (const deadline = Date.now() + madeWithinMs; !isFirst && Date.now() < deadline; await Bun.sleep(50))
    if (existsSync(made)) return made;
  const draft = `${made}-${crypto.randomUUID()}`;
  await makeBundles(draft);
  await rename(draft, made).catch(() => rm(draft, { recursive: true }));
  return made;
}

async function makeBundles(outdir: string): Promise<void> {
  await Bun.build({
    entrypoints: entries.map((entry) => join(root, entry)),
    ...{ root, outdir, target: "bun", format: "esm", splitting: true },
    plugins: [{ name: "places", setup: keepPlaces }],
  });
}

/** Modules of ours know their own places in the checkout, and most packages stay there. */
function keepPlaces(build: Bun.PluginBuilder): void {
  build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
    if (isBuiltin(path) || ours.test(path) || bundledToo.test(path)) return undefined;
    return { path: Bun.resolveSync(path, dirname(importer)), external: true };
  });
  build.onLoad({ filter: /^(?!.*\/node_modules\/).*\.ts$/ }, async ({ path }) => {
    const place: Readonly<Record<string, string>> = { dir: dirname(path), path, url: pathToFileURL(path).href };
    const resolved = `Bun.pathToFileURL(Bun.resolveSync(name, ${JSON.stringify(place.dir)})).href`;
    const text = await Bun.file(path).text();
    const contents = text
      .replaceAll(/\bimport\.meta\.(dir|path|url)\b/g, (_, what: string) => JSON.stringify(place[what]))
      .replaceAll(/\bimport\.meta\.resolve\(/g, `((name) => ${resolved})(`);
    return { contents, loader: "ts" };
  });
}
