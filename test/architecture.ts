import { dirname, join, relative, resolve } from "node:path";

/** The folder of the workspace. */
const root = resolve(import.meta.dir, "..");

/** A source file: its path relative to the workspace, what it imports, and whether it reads the clock that people set. */
export type SourceFile = { readonly path: string; readonly imports: readonly string[]; readonly readsWall?: boolean };

/** A package of the workspace: its folder and the names its manifest depends on. */
export type Package = { readonly folder: string; readonly name: string; readonly dependencies: readonly string[] };

/** For each room of `shared/src`, the other rooms it may import from. Files beside the rooms are at the bottom: all may use them. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  durable: [],
  llm: [],
  sandbox: [],
  egress: [],
  workspace: [],
  browser: ["sandbox", "egress", "workspace"],
  tools: ["durable", "llm", "sandbox", "egress", "workspace", "browser"],
  mcp: ["durable", "llm", "sandbox", "egress", "workspace", "tools"],
  agent: ["durable", "llm", "sandbox", "workspace", "browser", "tools"],
  a2a: ["durable", "llm", "sandbox", "egress", "workspace", "tools", "agent"],
  runs: ["durable", "llm", "workspace", "tools", "agent", "a2a"],
  "mcp-server": ["durable", "llm", "workspace", "tools", "agent", "a2a", "runs"],
  peers: ["durable", "workspace", "tools", "agent", "a2a"],
  auth: [],
  telemetry: ["durable"],
  config: ["llm", "sandbox", "tools", "agent", "mcp", "auth"],
  server: [
    "durable",
    "llm",
    "sandbox",
    "egress",
    "workspace",
    "browser",
    "tools",
    "mcp",
    "agent",
    "a2a",
    "runs",
    "mcp-server",
    "peers",
    "auth",
    "telemetry",
    "config",
  ],
};

/** For each package, the packages of the workspace it may depend on. The pattern that fits first holds. */
const packageRules: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^$/, []],
  [/^shared$/, []],
  [/^agents\//, ["shared"]],
  [/^flows$/, ["shared"]],
  [/^gateway$/, ["shared", "flows"]],
  [/^test$/, ["shared", "flows", "gateway", "agents/"]],
];

/** The packages of the workspace, the root's manifest among them. */
export async function readPackages(): Promise<Package[]> {
  const packages: Package[] = [];
  for (const pattern of ["package.json", "*/package.json", "agents/*/package.json"])
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root })) {
      const manifest = await Bun.file(join(root, path)).json();
      const dependencies = Object.keys({
        ...manifest.dependencies,
        ...manifest.devDependencies,
        ...manifest.peerDependencies,
      });
      packages.push({ folder: dirname(path) === "." ? "" : dirname(path), name: manifest.name, dependencies });
    }
  return packages;
}

/** Every product source file of the packages: tests and what serves them alone may reach across. */
export async function readSources(): Promise<SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const folder of ["shared", "agents", "flows", "gateway"])
    for (const path of new Bun.Glob(`${folder}/**/src/**/*.ts`).scanSync({ cwd: root })) {
      if (path.includes("node_modules") || /(?:\.test|-for-test|\.fixture)\.ts$/.test(path)) continue;
      const text = await Bun.file(join(root, path)).text();
      sources.push({ path, imports: importsOf(text), readsWall: /\bDate\.now\b/.test(text) });
    }
  return sources;
}

/** What a TypeScript text imports, types too (which a transpiler would not report). */
export function importsOf(source: string): string[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
  return [...source.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

/** Dependencies of manifests that point the wrong way. */
export function manifestFaults(packages: readonly Package[]): string[] {
  const folders = new Map(packages.map(({ name, folder }) => [name, folder]));
  return packages.flatMap(({ folder, dependencies }) => {
    const allowed = packageRules.find(([pattern]) => pattern.test(folder))?.[1];
    if (allowed === undefined) return [`${folder} has no rule`];
    return dependencies.flatMap((name) => {
      const target = folders.get(name);
      const fits =
        target === undefined ||
        allowed.some((rule) => target === rule || (rule.endsWith("/") && target.startsWith(rule)));
      return fits ? [] : [`${folder || "the root"} must not depend on ${target}`];
    });
  });
}

/** Imports that leave their package by path, name an agent, or go up between the rooms of shared. */
export function importFaults(sources: readonly SourceFile[], packages: readonly Package[]): string[] {
  const agents = packages.filter(({ folder }) => folder.startsWith("agents/")).map(({ name }) => name);
  return sources.flatMap(({ path, imports }) => {
    const home = packageFolder(path);
    return imports.flatMap((specifier) => {
      if (!specifier.startsWith(".")) {
        const agent = agents.find((name) => specifier === name || specifier.startsWith(`${name}/`));
        return agent === undefined ? [] : [`${path} imports the agent ${agent}`];
      }
      const target = relative(root, resolve(root, dirname(path), specifier));
      if (packageFolder(target) !== home) return [`${path} reaches out of its package to ${target}`];
      return home === "shared" ? roomFaults(path, target) : [];
    });
  });
}

function roomFaults(path: string, target: string): string[] {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (from !== undefined && rooms[from] === undefined) return [`${path}: the room ${from} has no rule`];
  if (to === undefined || from === to) return [];
  if (from === undefined) return [`${path} is at the bottom but imports ${target}`];
  return rooms[from]?.includes(to) === true
    ? []
    : [`${path} must not import ${target}: ${from} does not stand above ${to}`];
}

/** The room of a file of shared; undefined for those beside the rooms. */
function roomOf(path: string): string | undefined {
  return /^shared\/src\/([^/]+)\//.exec(path)?.[1];
}

function packageFolder(path: string): string {
  return /^(?:agents\/[^/]+|[^/]+)/.exec(path)?.[0] ?? "";
}
