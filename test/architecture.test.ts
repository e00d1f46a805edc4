import { expect, test } from "bun:test";
import { join } from "node:path";
import { agentDefaults } from "manyhands/internal/config/agents";
import {
  folderCircles,
  fullFolders,
  importCircles,
  importFaults,
  importsOf,
  manifestFaults,
  readPackages,
  readSources,
  rooms,
} from "./architecture.ts";

const packages = await readPackages();
const sources = await readSources();

test("the tables these tests walk are not empty", () => {
  expect(packages.map(({ folder }) => folder)).toEqual(
    expect.arrayContaining(["", "shared", "gateway", "agents/manus"]),
  );
  expect(sources.filter(({ path }) => path.startsWith("shared/")).length).toBeGreaterThan(10);
  expect(sources.filter(({ path }) => path.startsWith("gateway/")).length).toBeGreaterThan(5);
  expect(sources.filter(({ path }) => path.startsWith("docs/examples/")).length).toBeGreaterThan(5);
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(20);
});

test("packages depend on each other in one direction, and none depends on an agent", () => {
  expect(manifestFaults(packages)).toEqual([]);
});

test("imports stay inside their package and only go down the folders of shared", () => {
  expect(importFaults(sources, packages)).toEqual([]);
});

test("no files import each other in a circle, not even for types", () => {
  expect(importCircles(sources)).toEqual([]);
});

/**
 * A report has charts in it, and a workbook is read as a table; a worker opens what knows its
 * words.
 */
const knownCircles = [
  ["shared/src/tools/data", "shared/src/tools/documents"],
  ["shared/src/tools/data/database", "shared/src/tools/data/delimited"],
];

test("folders that lie beside each other import in one direction", () => {
  expect(folderCircles(sources).map((circle) => circle.toSorted())).toEqual(expect.arrayContaining(knownCircles));
  expect(folderCircles(sources)).toHaveLength(knownCircles.length);
});

test("a folder holds what a reader can take in: at most 22 files and folders besides tests", () => {
  const paths = [
    ...new Bun.Glob("**/*.{ts,tsx,css,md}").scanSync({ cwd: join(import.meta.dir, ".."), dot: true }),
  ].filter(
    (path) =>
      /^(?:shared|agents|flows|gateway|docs|test|deploy)\//.test(path) &&
      !/node_modules|\.vitepress|\/dist\//.test(path),
  );
  expect(paths.length).toBeGreaterThan(1_000);
  expect(fullFolders(paths)).toEqual([]);
});

test("of two folders at most one may import the other", () => {
  for (const [room, below] of Object.entries(rooms))
    for (const other of below) expect(rooms[other]).not.toContain(room);
});

test("runs ask a model in one place, where every call is counted", async () => {
  const asking = await Promise.all(
    sources
      .filter(({ path }) => /^(shared\/src\/(agent|tools|mcp|runs|a2a|server)|flows|agents|gateway)\//.test(path))

      .map(async ({ path }) => [path, await Bun.file(join(import.meta.dir, "..", path)).text()] as const),
  );
  const found = asking.filter(([, text]) => /\bmodel\.ask\(|\bmodels\/reply\b/.test(text)).map(([path]) => path);
  expect(found).toEqual(["shared/src/agent/model-call/call-model.ts"]);
});

/** The sources of these folders, without tests and scripts of models. */
async function textsBelow(folders: RegExp): Promise<readonly (readonly [path: string, text: string])[]> {
  const paths = sources
    .map(({ path }) => path)
    .filter((path) => folders.test(path) && !/testing|rehearsal|demo/.test(path));
  expect(paths.length).toBeGreaterThan(50);
  return await Promise.all(
    paths.map(async (path) => [path, await Bun.file(join(import.meta.dir, "..", path)).text()] as const),
  );
}

test("the names of our agents stand in the defaults of [agents] alone, and in the examples of flows", async () => {
  const names = Object.keys(agentDefaults).filter((name) => name !== "browser"); // a family of tools, too
  const named = new RegExp(`"(?:${names.join("|")})"|^\\s*(?:${names.join("|")}):`, "m");
  const texts = await textsBelow(/^(shared|gateway|flows)\/src\//);
  const found = texts.filter(([path, text]) => !path.startsWith("flows/") && named.test(text)).map(([path]) => path);
  expect(found).toEqual(["shared/src/config/agents.ts"]);
  for (const [path, text] of texts.filter(([path]) => path.startsWith("flows/")))
    expect([path, text.replaceAll(/\bexample: \{[\s\S]*?\n {2}\},/g, "")]).not.toEqual([
      path,
      expect.stringMatching(named),
    ]);
});

test("nothing an agent does depends on the name of a tool, except in journals that name nothing else", async () => {
  const families = await Bun.file(join(import.meta.dir, "../shared/src/tools/families.ts")).text();
  const tools = families.match(/"[a-z]+(?:_[a-z]+)+"|"bash"/g) ?? [];
  expect(tools.length).toBeGreaterThan(15);
  const texts = await textsBelow(/^shared\/src\/(agent|core|runs|a2a|mcp|server|flow|models)\//);
  const found = texts.filter(([, text]) => tools.some((tool) => text.includes(tool))).map(([path]) => path);
  // Those that control a task; what earlier versions recorded.
  expect(found.toSorted()).toEqual(["shared/src/agent/task/recorded-sources.ts", "shared/src/core/agent.ts"]);
});

test("planted faults are found", () => {
  const fault = (path: string, specifier: string) => importFaults([{ path, imports: [specifier] }], packages);
  expect(fault("shared/src/models/x.ts", "../agent/agent.ts")).toHaveLength(1);
  expect(fault("shared/src/tools/files/x.ts", "../../a2a/client/client.ts")).toHaveLength(1);
  expect(fault("shared/src/a2a/push/x.ts", "../server/card.ts")).toHaveLength(1);
  expect(fault("shared/src/core/errors.ts", "../models/tokens.ts")).toHaveLength(1);
  expect(fault("shared/src/unheard-of/x.ts", "../core/errors.ts")).toHaveLength(1);
  expect(fault("shared/src/x.ts", "./core/errors.ts")).toHaveLength(1);
  expect(fault("gateway/src/cli/x.ts", "../../../agents/manus/src/agent.ts")).toHaveLength(1);
  expect(fault("gateway/src/cli/x.ts", "@manyhands/manus/agent")).toHaveLength(1);
  expect(fault("agents/manus/src/x.ts", "../../swe/src/agent.ts")).toHaveLength(1);
  expect(fault("agents/manus/src/x.ts", "manyhands/internal/core/tools/tool")).toHaveLength(1);
  expect(fault("flows/src/x.ts", "manyhands/internal/flow/ask")).toHaveLength(1);
  expect(fault("docs/examples/x.ts", "manyhands/internal/flow/ask")).toHaveLength(1);
  expect(fault("docs/examples/x.ts", "../../shared/src/flow/ask.ts")).toHaveLength(1);
  expect(fault("flows/src/x.ts", "manyhands/flows")).toEqual([]);
  expect(fault("shared/src/agent/x.ts", "../testing/workspace.ts")).toHaveLength(1);
  expect(fault("shared/src/testing/x.ts", "../public/tools.ts")).toHaveLength(1);
  expect(fault("shared/src/public/testing.ts", "../testing/flow.ts")).toEqual([]);
  expect(fault("gateway/src/cli/x.ts", "../testing/cli.ts")).toHaveLength(1);
  expect(fault("gateway/src/cli/x.ts", "manyhands/internal/testing/flow")).toHaveLength(1);
  expect(fault("flows/src/x.ts", "manyhands/testing")).toHaveLength(1);
  expect(fault("shared/src/agent/x.ts", "../core/tool.ts")).toEqual([]);
  const broken = packages.map((one) =>
    one.folder === "gateway" ? { ...one, dependencies: ["@manyhands/manus"] } : one,
  );
  const ring = [
    { path: "flows/src/a.ts", imports: ["./b.ts"] },
    { path: "flows/src/b.ts", imports: ["./a.ts", "zod"] },
  ];
  expect(importCircles(ring)).toEqual([["flows/src/a.ts", "flows/src/b.ts"]]);
  const folders = [
    { path: "flows/src/a/one.ts", imports: ["../b/one.ts", "./two.ts"] },
    { path: "flows/src/b/two.ts", imports: ["../a/three.ts"] },
  ];
  expect(importCircles(folders)).toEqual([]);
  expect(folderCircles(folders)).toEqual([["flows/src/a", "flows/src/b"]]);
  expect(manifestFaults(broken)).toEqual(["gateway must not depend on agents/manus"]);
  const crowd = Array.from({ length: 22 }, (_, at) => [`flows/src/${at}.ts`, `flows/src/${at}.test.ts`]).flat();
  expect(fullFolders(crowd)).toEqual([]);
  expect(fullFolders([...crowd, "flows/src/one/more.ts"])).toEqual(["flows/src has 23 entries"]);
});

/**
 * Files that need the settable wall clock: to show a time or compare it with a date, never to
 * measure a duration.
 */
const readsWall = [
  "gateway/src/console/pages/run/plan-strip.tsx",
  "gateway/src/console/pages/run/run-store.ts",
  "gateway/src/console/pages/runs/list-store.ts",
  "gateway/src/console/words/format.ts",
  "gateway/src/registry/known-agent.ts",
  "gateway/src/rest/change-stream.ts",
  "gateway/src/shares/share-store.ts",
  "gateway/src/starts/notify/send-news.ts",
  "gateway/src/starts/schedules/scheduler.ts",
  "gateway/src/starts/schedules/schedules.ts",
  "gateway/src/starts/triggers/triggers.ts",
  "gateway/src/tasks/task-items.ts",
  "shared/src/a2a/push/deliveries.ts",
  "shared/src/a2a/signing/card-policy.ts",
  "shared/src/a2a/signing/home-keys.ts",
  "shared/src/auth/auth-store.ts",
  "shared/src/auth/jwt.ts",
  "shared/src/durable/sqlite/machine-clock.ts",
  "shared/src/machine/browser-profile/profile-store.ts",
  "shared/src/machine/secrets/secrets.ts",
  "shared/src/machine/workspace/artifacts/artifact-store.ts",
  "shared/src/machine/workspace/artifacts/shared-artifacts.ts",
  "shared/src/machine/workspace/open-workspace.ts",
  "shared/src/machine/workspace/own-files/remove-stale.ts",
  "shared/src/memory/memory-store.ts",
  "shared/src/models/chat/ask-chat.ts",
  "shared/src/models/native/native-protocol.ts",
  "shared/src/runs/sweep.ts",
  "shared/src/telemetry/export-traces.ts",
  "shared/src/tools/code/checkpoints/checkpoint-store.ts",
];

test("no duration comes from a clock that can be set: performance.now within a process, a step's now() across processes", () => {
  const found = sources.filter(({ path, readsWall }) => readsWall && !/\/(conformance|testing)\//.test(path));
  expect(found.map(({ path }) => path).toSorted()).toEqual(readsWall);
});

test("imports of every form are found, types too", () => {
  const source = `import type { A } from "./a.ts";\nimport {\n  B,\n} from "./b.ts";\nexport { C } from "./c.ts";\nimport "./d.ts";\nawait import("./e.ts");`;
  expect(importsOf(source)).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts"]);
});
