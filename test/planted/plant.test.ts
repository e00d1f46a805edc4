import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { drawnFaults } from "./drawn.ts";
import type { Fault } from "./fault.ts";
import { faults } from "./faults.ts";
import { plantAll, withFault } from "./plant.ts";

setDefaultTimeout(120_000);

const root = resolve(import.meta.dir, "../..");
const testFiles = [...new Bun.Glob("{shared,flows,gateway,agents,test}/**/*.test.ts").scanSync({ cwd: root })];

test("there are faults to plant, each with its own name", () => {
  expect(faults.length).toBeGreaterThanOrEqual(40);
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
});

test.each(faults.map((fault) => [fault.id, fault] as const))(
  "the fault %s still has its place, and tests to find it",
  async (_, fault) => {
    const source = await Bun.file(join(root, fault.file)).text();
    expect(withFault(fault, source)).not.toBe(source);
    expect(fault.tests).not.toEqual([]);
    for (const some of fault.tests) expect(testFiles.filter((path) => path.includes(some))).not.toEqual([]);
  },
);

test("a fault that somebody drew is looked for in the tests beside it first, then in all", async () => {
  const folder = await mkdtemp(join(tmpdir(), "drawn-"));
  try {
    const path = join(folder, "drawn.json");
    const fault = { id: "one", file: "flows/src/loop/loop.ts", find: "a", becomes: "b", harm: "None." };
    await Bun.write(path, JSON.stringify([fault, { ...fault, file: "shared/src/core/usage.ts" }]));
    const [inFlows, inShared] = await drawnFaults(root, path);
    const others = ["./shared/", "./gateway/", "./agents/", "./test/a2a/", "./test/agents/"];
    expect(inFlows?.tests.slice(0, 8)).toEqual([
      "./flows/src/loop/loop.test.ts",
      "./flows/src/loop/",
      "./flows/",
      ...others,
    ]);
    expect(inShared?.tests.slice(0, 3)).toEqual(["./shared/src/core/usage.test.ts", "./shared/src/core/", "./shared/"]);
    expect(inShared?.tests).toContain("./test/attacks/");
    expect(inShared?.tests).not.toContain("./test/planted/");
    await Bun.write(path, JSON.stringify([{ ...fault, harm: undefined }]));
    await expect(drawnFaults(root, path)).rejects.toThrow("harm");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a fault that a test finds is caught, a harmless change survives, and the checkout stays as it is", async () => {
  const file = "shared/src/durable/sqlite/process-identity.ts";
  const source = await Bun.file(join(root, file)).text();
  const about = {
    file,
    find: "if (other.host !== own.host) return false;",
    harm: "",
    tests: ["process-identity.test"],
  };
  const planted: readonly Fault[] = [
    { ...about, id: "harmful", becomes: "" },
    { ...about, id: "harmless", becomes: "if (own.host !== other.host) return false;" },
  ];
  const said: string[] = [];
  const verdicts = await plantAll(planted, (line) => said.push(line), new AbortController().signal);
  const by = expect.stringContaining("processes of another machine, boot or container are not judged");
  expect(verdicts).toEqual([
    { id: "harmful", caught: true, by },
    { id: "harmless", caught: false, why: "all pass in process-identity.test" },
  ]);
  expect(said.map((line) => line.split(":")[0])).toEqual(["caught   harmful", "SURVIVED harmless"]);
  expect(await Bun.file(join(root, file)).text()).toBe(source);
});
