import { isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dir, "../..");

/** The programs of ours that tests start by the hundred. */
const programs = [
  "agents/*/src/server.ts",
  "gateway/src/main.ts",
  "gateway/src/{cli,server}/main.ts",
  "gateway/src/supervisor/parent-watch.ts",
  "shared/src/machine/process/{landlock-launcher,supervisor}.ts",
  "flows/src/testing/flow-process.ts",
  "shared/src/testing/machine/own-script-process.ts",
  "shared/src/tools/{code,data,documents,files}/**/*-worker.ts",
  // Its parent speaks with it over a channel that the true Bun would not be given.
  "test/conformance/fuzz/fuzz-server.ts",
];

/**
 * Packages that are plain modules, which most starts, first tasks or charts load. All others stay
 * where they are, since they may look for files beside themselves.
 */
const packages = [
  "@a2a-js/sdk",
  "@decimalturn/toml-patch",
  "@pinojs/redact",
  "atomic-sleep",
  "croner",
  "d3-[a-z-]+",
  "diacritics",
  "diff",
  "dom-serializer",
  "domelementtype",
  "domhandler",
  "domutils",
  "entities",
  "eventsource-parser",
  "fast-fifo",
  "hono",
  "htmlparser2",
  "hucre",
  "image-size",
  "internmap",
  "jose",
  "jsonrepair",
  "jstat",
  "ml-matrix",
  "on-exit-leak-free",
  "openai",
  "pino",
  "pino-std-serializers",
  "quick-format-unescaped",
  "re2js",
  "robots-parser",
  "safe-stable-stringify",
  "smol-toml",
  "sonic-boom",
  "streamx",
  "tar-stream",
  "text-decoder",
  "thread-stream",
  "tokenx",
  "topojson-client",
  "vega",
  "vega-(?!canvas)[a-z-]+",
  "zod",
];

const compiledToo = new RegExp(`^(?:manyhands|@manyhands|${packages.join("|")})(?:/|$)`);

/**
 * Makes a Bun in `folder` that has the programs of this checkout compiled in, and resolves with its
 * path. Called as Bun is, with one of them, it runs that without reading or compiling a module: a
 * server starts in a third of the processor time. With anything else it becomes the Bun that made
 * it. Modules know their own places in the checkout, where the files lie that they read.
 */
export async function compileBun(folder: string): Promise<string> {
  const outfile = join(folder, "bun");
  const names = await Promise.all(programs.map((glob) => Array.fromAsync(new Bun.Glob(glob).scan({ cwd: root }))));
  await Bun.build({
    entrypoints: ["compiled-programs"],
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, autoloadPackageJson: true },
    plugins: [
      { name: "start", setup: (build) => startFrom(build, names.flat()) },
      { name: "places", setup: keepPlaces },
    ],
  });
  return outfile;
}

/** The first module: which programs there are, and what runs the one that is asked for. */
function startFrom(build: Bun.PluginBuilder, names: readonly string[]): void {
  const loads = names.map((name) => JSON.stringify(join(root, name))).map((path) => `${path}: () => import(${path})`);
  const contents = `
    import { startCompiled } from ${JSON.stringify(join(import.meta.dir, "start-compiled.ts"))};
    await startCompiled({ ${loads.join(", ")} }, ${JSON.stringify(process.execPath)});
  `;
  build.onResolve({ filter: /^compiled-programs$/ }, ({ path }) => ({ path, namespace: "start" }));
  build.onLoad({ filter: /./, namespace: "start" }, () => ({ contents, loader: "js" }));
}

function keepPlaces(build: Bun.PluginBuilder): void {
  build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
    if (path === "compiled-programs" || isBuiltin(path) || compiledToo.test(path)) return undefined;
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
