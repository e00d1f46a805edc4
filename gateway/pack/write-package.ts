import { existsSync } from "node:fs";
import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { dirname, join, posix, relative, resolve } from "node:path";
import * as z from "zod";
import { buildConsole } from "../src/pages/console-files.ts";

/**
 * The folders whose modules make up the package. Their layout is the workspace's, so that relative
 * paths keep working.
 */
const sources = ["shared/src", "flows/src", "agents/*/src", "gateway/src"];
const assets = [
  // The compiler writes JSON that is imported too, but not every time.
  ...sources.map((folder) => `${folder}/**/*.{js,json,css,html,py,sh}`),
  "shared/src/skills/shipped/**/*.md",
  "gateway/demo/**/*",
];

const manifestShape = z.looseObject({
  packageManager: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  exports: z.record(z.string(), z.string()).default({}),
  workspaces: z.looseObject({ catalog: z.record(z.string(), z.string()) }).optional(),
});

/**
 * Writes the package `manyhands` into a folder: every module of the workspace without its types,
 * the files beside them, and the declarations that the public entries refer to.
 */
export async function writePackage(root: string, folder: string, version: string): Promise<void> {
  await compile(root, folder);
  for (const pattern of assets)
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root }))
      if (!path.includes("node_modules") && !path.startsWith("gateway/src/console/"))
        await cp(join(root, path), join(folder, path));
  const shared = await readManifest(root, "shared/package.json");
  const published = Object.entries(shared.exports).filter(([name]) => !name.startsWith("./internal/"));
  await keepDeclarations(
    folder,
    published.map(([, path]) => declarationOf(join("shared", path))),
  );
  for (const [, path] of published) await referToNode(join(folder, declarationOf(join("shared", path))));
  await rewriteModules(folder, shared.exports);
  await writeConsole(join(folder, "gateway/src/console/built"));
  await mkdir(join(folder, "bin"));
  await cp(join(root, "gateway/pack/manyhands.js"), join(folder, "bin/manyhands.js"));
  await chmod(join(folder, "bin/manyhands.js"), 0o755);
  for (const name of ["README.md", "LICENSE"]) await cp(join(root, name), join(folder, name));
  const wanted = Object.entries(await dependenciesOf(root));
  const manifest = {
    name: "manyhands",
    version,
    description: "AI agents that plan, use tools and finish tasks, durably, and speak A2A.",
    license: "MIT",
    type: "module",
    engines: { node: ">=20", bun: ">=1.4.4" },
    bin: { manyhands: "bin/manyhands.js" },
    exports: Object.fromEntries([
      ...published.map(([name, path]) => [name, entryOf(join("shared", path))]),
      ["./package.json", "./package.json"],
    ]),
    dependencies: Object.fromEntries(wanted.filter(([name]) => !onRequest.includes(name))),
    peerDependencies: Object.fromEntries(
      onRequest.map((name) => [name, `^${wanted.find(([one]) => one === name)?.[1]}`]),
    ),
    peerDependenciesMeta: Object.fromEntries(onRequest.map((name) => [name, { optional: true }])),
  };
  await Bun.write(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** Large libraries for a few, which say so when they are missing. */
const onRequest: readonly string[] = ["@azure/identity"];

/** The console as browsers get it, so that the first page needs no build. */
async function writeConsole(folder: string): Promise<void> {
  for (const [name, text] of await buildConsole()) await Bun.write(join(folder, name), text);
}

async function compile(root: string, folder: string): Promise<void> {
  const compiler = Bun.which("tsc", { PATH: join(root, "node_modules/.bin") });
  if (compiler === null) throw new Error("There is no tsc: run `bun run setup` first");
  // `bun run check` has judged the types, which takes most of a compiler's time. Several checkers
  // at once would infer the same types several times.
  const options = ["--noCheck", "--checkers", "1", "--outDir", folder];
  const argv = [process.execPath, compiler, "-p", "gateway/pack/tsconfig.json", ...options];
  const compiling = Bun.spawn(argv, { cwd: root, stdout: "inherit", stderr: "inherit" });
  if ((await compiling.exited) !== 0) throw new Error("The sources cannot be compiled");
}

/**
 * The dependencies of the workspace's packages, except each other; and Bun, which runs all of it.
 */
async function dependenciesOf(root: string): Promise<Readonly<Record<string, string>>> {
  const workspace = await readManifest(root, "package.json");
  const found: Record<string, string> = { bun: (workspace.packageManager ?? "").replace("bun@", "") };
  for (const pattern of sources)
    for (const path of new Bun.Glob(`${dirname(pattern)}/package.json`).scanSync({ cwd: root }))
      for (const [name, asked] of Object.entries((await readManifest(root, path)).dependencies))
        if (!asked.startsWith("workspace:")) found[name] = workspace.workspaces?.catalog[name] ?? asked;
  // Tool schemas use the project's copy, which must be the same as ours.
  return { ...found, zod: `^${found.zod}` };
}

async function readManifest(root: string, path: string): Promise<z.output<typeof manifestShape>> {
  return manifestShape.parse(await Bun.file(join(root, path)).json());
}

const moduleOf = (source: string) => source.replace(/\.ts$/, ".js");
const declarationOf = (source: string) => source.replace(/\.ts$/, ".d.ts");
const entryOf = (source: string) => ({ types: `./${declarationOf(source)}`, default: `./${moduleOf(source)}` });

const imported = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)"([^"]+)"/g;

/**
 * Makes an entry's declarations refer to the Node types that they, and those of the libraries they
 * use, require.
 */
async function referToNode(path: string): Promise<void> {
  await Bun.write(path, `/// <reference types="node" />\n${await Bun.file(path).text()}`);
}

/** Removes the declarations that no entry refers to. */
async function keepDeclarations(folder: string, entries: readonly string[]): Promise<void> {
  const kept = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (kept.has(path)) continue;
    kept.add(path);
    const text = await Bun.file(join(folder, path)).text();
    for (const [, , to = ""] of text.matchAll(imported))
      if (to.startsWith(".")) open.push(declarationOf(join(dirname(path), to)));
  }
  for (const path of new Bun.Glob("**/*.d.ts").scanSync({ cwd: folder }))
    if (!kept.has(path)) await rm(join(folder, path));
}

/**
 * Rewrites each module's references to other modules for the package. Besides imports, these are
 * all quoted names of source files: of a worker, of a script for another process, of a server's
 * entry.
 */
async function rewriteModules(folder: string, exports: Readonly<Record<string, string>>): Promise<void> {
  const written = [...new Bun.Glob("**/*.{js,d.ts}").scanSync({ cwd: folder })];
  const modules = new Set(written.filter((path) => path.endsWith(".js")));
  for (const path of written) {
    const file = Bun.file(join(folder, path));
    const text = await file.text();
    const near = text.replace(imported, (whole, how: string, to: string) => {
      const source = sourceOf(to, exports);
      return source === undefined ? whole : `${how}"${relativeTo(path, moduleOf(source))}"`;
    });
    if (path.endsWith(".js")) assertComplete(folder, path, near);
    const named = near.replace(/"([\w./-]+\.ts)"/g, (whole, name: string) => {
      const ours = [posix.join(dirname(path), name), name].some((one) => modules.has(moduleOf(one)));
      return ours ? `"${moduleOf(name)}"` : whole;
    });
    if (named !== text) await Bun.write(file, named);
  }
}

/** Throws for a module that imports a file which is not in the package. */
function assertComplete(folder: string, path: string, text: string): void {
  for (const [, , to = ""] of text.matchAll(imported))
    if (to.startsWith(".") && !existsSync(join(folder, dirname(path), to)))
      throw new Error(`${path} imports ${to}, which is not in the package`);
}

/**
 * The source file that a workspace package exports under this name; undefined for names that are
 * not ours.
 */
function sourceOf(specifier: string, exports: Readonly<Record<string, string>>): string | undefined {
  const [name, ...rest] = specifier.split("/");
  if (specifier.startsWith("@manyhands/flows/")) return `flows/src/${rest.slice(1).join("/")}.ts`;
  if (name !== "manyhands") return undefined;
  const path = exports[rest.length === 0 ? "." : `./${rest.join("/")}`];
  return path === undefined ? undefined : posix.join("shared", path);
}

function relativeTo(from: string, to: string): string {
  const path = relative(resolve("/", dirname(from)), resolve("/", to));
  return path.startsWith(".") ? path : `./${path}`;
}
