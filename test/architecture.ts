import { dirname, join, relative, resolve } from "node:path";

/** The folder of the workspace. */
const root = resolve(import.meta.dir, "..");

/**
 * A source file: its path relative to the workspace, its imports, and whether it reads the settable
 * wall clock.
 */
export type SourceFile = { readonly path: string; readonly imports: readonly string[]; readonly readsWall?: boolean };

/** A package of the workspace: its folder and the dependencies in its manifest. */
export type Package = { readonly folder: string; readonly name: string; readonly dependencies: readonly string[] };

/**
 * For each room of `shared/src`, the other rooms it may import from. A room within a room is named
 * by its path; contracts import nothing, and no files exist beside the rooms.
 */
const productRooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  durable: ["core"],
  models: ["core"],
  "models/rehearsal": ["core", "models"],
  machine: ["core"],
  "machine/kernel": ["core"],
  "machine/process": ["core", "machine/kernel"],
  "machine/sandbox": ["core"],
  "machine/memory": ["core", "machine/kernel", "machine/sandbox"],
  "machine/confinement": ["core", "machine/kernel", "machine/process", "machine/sandbox", "machine/memory"],
  "machine/egress": ["core", "machine/kernel", "machine/process"],
  "machine/workspace": ["core"],
  "machine/secrets": ["core"],
  "machine/browser-profile": ["core", "machine", "machine/workspace"],
  "machine/browser-process": ["core", "machine/kernel", "machine/process", "machine/egress", "machine/browser-profile"],
  "machine/live": ["core"],
  "machine/browser": [
    "core",
    "machine/egress",
    "machine/workspace",
    "machine/browser-process",
    "machine/browser-profile",
    "machine/live",
  ],
  http: ["core"],
  runs: ["core"],
  auth: ["core"],
  telemetry: ["core", "machine/workspace"],
  tools: [
    "core",
    "models",
    "machine/process",
    "machine/sandbox",
    "machine/egress",
    "machine/workspace",
    "machine/secrets",
    "machine/browser-profile",
    "machine/browser-process",
    "machine/browser",
    "machine/live",
  ],
  "agent/task": ["core", "models", "machine/workspace"],
  "agent/model-call": ["core", "models", "agent/task"],
  "agent/act": ["core", "models", "machine/workspace", "agent/task", "agent/model-call"],
  "agent/think": ["core", "models", "agent/task", "agent/model-call", "agent/act"],
  agent: ["core", "models", "machine/workspace", "tools", "agent/task", "agent/model-call", "agent/act", "agent/think"],
  a2a: ["core", "runs"],
  "a2a/client": ["core", "http", "a2a"],
  "a2a/signing": ["core", "machine", "machine/egress", "machine/workspace", "http", "a2a/client"],
  "a2a/push": ["core", "machine/egress", "runs", "a2a", "a2a/signing"],
  "a2a/server": ["core", "machine", "machine/sandbox", "http", "runs", "a2a", "a2a/push", "a2a/signing"],
  "a2a/ask": ["core", "http", "a2a", "a2a/client", "a2a/signing"],
  "a2a/delegate": ["core", "tools", "a2a/client", "a2a/ask"],
  flow: ["core", "models", "agent/model-call", "a2a/ask"],
  "mcp/client": [
    "core",
    "models",
    "machine",
    "machine/process",
    "machine/sandbox",
    "machine/egress",
    "machine/workspace",
  ],
  "mcp/server": ["core", "machine/workspace", "http", "runs", "agent/task", "agent/model-call", "agent/act"],
  skills: ["core", "machine/workspace"],
  memory: ["core", "models"],
  cluster: ["core", "durable", "models", "auth", "runs", "memory"],
  config: [
    "core",
    "models",
    "http",
    "auth",
    "machine/sandbox",
    "machine/secrets",
    "machine/browser-profile",
    "tools",
    "a2a/client",
    "a2a/signing",
  ],
  public: [
    "core",
    "durable",
    "models",
    "tools",
    "agent",
    "flow",
    "a2a",
    "a2a/client",
    "mcp/client",
    "server",
    "testing",
  ],
  server: [
    "core",
    "durable",
    "cluster",
    "models",
    "models/rehearsal",
    "machine",
    "machine/confinement",
    "machine/sandbox",
    "machine/egress",
    "machine/workspace",
    "machine/secrets",
    "machine/browser-profile",
    "machine/browser-process",
    "machine/browser",
    "machine/live",
    "http",
    "auth",
    "runs",
    "tools",
    "agent/act",
    "agent",
    "a2a/client",
    "a2a/push",
    "a2a/server",
    "a2a/signing",
    "a2a/ask",
    "a2a/delegate",
    "a2a",
    "mcp/client",
    "mcp/server",
    "skills",
    "memory",
    "config",
    "telemetry",
  ],
};

/**
 * Doubles, fixtures and processes for tests may import from every room; only the public entries may
 * re-export some of them.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  ...productRooms,
  testing: Object.keys(productRooms).filter((room) => room !== "public"),
};

/**
 * For each package, the packages of the workspace it may depend on. The first matching pattern
 * applies.
 */
const packageRules: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^$/, []],
  [/^shared$/, []],
  [/^agents\//, ["shared"]],
  [/^flows$/, ["shared"]],
  [/^gateway$/, ["shared", "flows"]],
  [/^docs$/, ["shared"]],
  [/^test$/, ["shared", "flows", "gateway", "agents/"]],
];

/** The packages of the workspace, including the root's manifest. */
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

/** Examples that readers copy: even their tests are written as an outside user would write them. */
const examples = "docs/examples/*.ts";
const sourcePatterns = [
  "shared/**/src/**/*.ts",
  "agents/**/src/**/*.ts",
  "flows/**/src/**/*.ts",
  "gateway/**/src/**/*.{ts,tsx}",
  examples,
];

/**
 * Every source file of the packages except tests, and except test helpers of flows and gateway,
 * which may import across packages; the test helpers of `shared` are one of its rooms.
 */
export async function readSources(): Promise<SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const pattern of sourcePatterns)
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root })) {
      const isTest = /\.test\.ts$|^(?:flows|gateway)\/src\/testing\//.test(path) && pattern !== examples;
      if (path.includes("node_modules") || isTest) continue;
      const text = await Bun.file(join(root, path)).text();
      sources.push({ path, imports: importsOf(text), readsWall: /\bDate\.now\b/.test(text) });
    }
  return sources;
}

/** The imports of a TypeScript text, including types (which a transpiler would not report). */
export function importsOf(source: string): string[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
  return [...source.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

/**
 * A reader takes in a folder of about twenty files and folders; tests lie beside what they test.
 */
const maxEntries = 22;

/** The folders above these paths that hold more than a reader can take in. */
export function fullFolders(paths: readonly string[]): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths.filter((one) => !/\.test\.tsx?$/.test(one)))
    for (let at = path; dirname(at) !== "."; at = dirname(at)) {
      const folder = dirname(at);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(at));
    }
  return [...entries]
    .filter(([, inside]) => inside.size > maxEntries)
    .map(([folder, inside]) => `${folder} has ${inside.size} entries`);
}

/** Manifest dependencies that point the wrong way. */
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

/** Our own code that is written like outside code: with the package's public entries only. */
const usesPublicEntriesOnly = /^(?:agents|flows|docs)\//;

/**
 * Imports that leave their package by path, name an agent, bypass the public entries, or point
 * upwards between the rooms of shared.
 */
export function importFaults(sources: readonly SourceFile[], packages: readonly Package[]): string[] {
  const agents = packages.filter(({ folder }) => folder.startsWith("agents/")).map(({ name }) => name);
  return sources.flatMap(({ path, imports }) => {
    const home = packageFolder(path);
    return imports.flatMap((specifier) => {
      if (!specifier.startsWith(".")) {
        if (usesPublicEntriesOnly.test(path) && specifier.startsWith("manyhands/internal/"))
          return [`${path} imports ${specifier}, which is not public`];
        if (isForTests(specifier) && !isForTests(path)) return [`${path} imports ${specifier}, which is for tests`];
        const agent = agents.find((name) => specifier === name || specifier.startsWith(`${name}/`));
        return agent === undefined ? [] : [`${path} imports the agent ${agent}`];
      }
      const target = relative(root, resolve(root, dirname(path), specifier));
      if (packageFolder(target) !== home) return [`${path} reaches out of its package to ${target}`];
      if (home !== "shared" && isForTests(target)) return [`${path} imports ${target}, which is for tests`];
      return home === "shared" ? roomFaults(path, target) : [];
    });
  });
}

function isForTests(path: string): boolean {
  return path.endsWith(".test.ts") || /^manyhands\/(?:internal\/)?testing\b|\/src\/testing\//.test(path);
}

function roomFaults(path: string, target: string): string[] {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (from === undefined) return [`${path} is in no room`];
  if (to === undefined) return [`${path} imports ${target}, which is in no room`];
  if (from === to || rooms[from]?.includes(to) === true) return [];
  return [`${path} must not import ${target}: ${from} does not stand above ${to}`];
}

const innermostFirst = Object.keys(rooms).toSorted((one, other) => other.length - one.length);

/** The innermost room of a file of shared. */
function roomOf(path: string): string | undefined {
  return innermostFirst.find((room) => path.startsWith(`shared/src/${room}/`));
}

/** Cyclic imports, types included; each cycle once. */
export function importCircles(sources: readonly SourceFile[]): string[][] {
  return circlesOf(new Map(sources.map(({ path, imports }) => [path, new Set(targetsOf(path, imports))])));
}

/**
 * Files and folders that lie beside each other and import each other in a circle, through whatever
 * is in them; each circle once.
 */
export function folderCircles(sources: readonly SourceFile[]): string[][] {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of sources)
    for (const target of targetsOf(path, imports)) {
      const [from, to] = [path.split("/"), target.split("/")];
      const depth = 1 + from.findIndex((name, at) => name !== to[at]);
      const sibling = from.slice(0, depth).join("/");
      graph.set(sibling, (graph.get(sibling) ?? new Set()).add(to.slice(0, depth).join("/")));
    }
  return circlesOf(graph);
}

function targetsOf(path: string, imports: readonly string[]): string[] {
  return imports.filter((one) => one.startsWith(".")).map((one) => relative(root, resolve(root, dirname(path), one)));
}

function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const done = new Set<string>();
  const circles: string[][] = [];
  const walk = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push(way.slice(way.indexOf(path)));
    if (done.has(path) || way.includes(path)) return;
    for (const target of graph.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return circles;
}

function packageFolder(path: string): string {
  return /^(?:agents\/[^/]+|[^/]+)/.exec(path)?.[0] ?? "";
}
