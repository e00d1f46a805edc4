import { expect, setDefaultTimeout, test } from "bun:test";
import { join, resolve } from "node:path";
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
