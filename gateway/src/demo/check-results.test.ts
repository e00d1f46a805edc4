import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import { loadConfig } from "manyhands/internal/config/config";
import { checkResults, type Expected } from "./check-results.ts";
import type { Registration } from "./registration-site.ts";
import { startRegistrationSite } from "./registration-site.ts";
import { faultOfPatch, readShippingProject } from "./shipping-project.ts";

const root = resolve(import.meta.dir, "../../..");
const csv = await Bun.file(join(root, "gateway/demo/orders.csv")).text();
const project = await readShippingProject(root);
const code = project["shipping.py"] ?? "";
const mended = createTwoFilesPatch("a/shipping.py", "b/shipping.py", code, code.replace("weight < ", "weight <= "));
const given = {
  name: "Ada Lund",
  email: "ada.lund@orders.example",
  country: "Norway",
  first: "2026-12-01",
  time: "Afternoon",
  newsletter: "yes",
};
const report = `| East | 21,317.35 | 58 | 367.54 |
| North | 19,967.60 | 62 | 322.06 |
| West | 18,860.20 | 56 | 336.79 |
| South | 16,559.05 | 39 | 424.59 |
Best month: 2026-04. Odd: 10097, 10062, 10148. ![Chart](chart.png) Registered: MH-1.`;
const canRun = Bun.which("python3") !== null && process.platform === "linux";

let folder: string;
let expected: Expected;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-check-"));
  const config = await loadConfig({ cwd: folder, file: undefined, env: { MANYHANDS_HOME: join(folder, "home") } });
  const abilities = { runsCode: canRun, operatesPages: true };
  expected = { abilities, csv, project, registrations: [{ number: "MH-1", given }], config };
});
afterAll(() => rm(folder, { recursive: true }));

/** What is wrong if the demo left these files. */
async function wrong(
  files: Readonly<Record<string, string | Uint8Array>>,
  registrations: readonly Registration[] = expected.registrations,
): Promise<string> {
  const saved = Object.entries({ ...right(), ...files }).map(async ([name, content]) => {
    const path = join(folder, name);
    return { path, bytes: await Bun.write(path, content) };
  });
  const checks = await checkResults(await Promise.all(saved), { ...expected, registrations });
  return checks.flatMap(({ isRight, text }) => (isRight ? [] : [text])).join("\n");
}

function right() {
  const chart = Buffer.alloc(24);
  chart.write("89504e470d0a1a0a", "hex");
  chart.writeUInt32BE(800, 16);
  return { "report.md": report, "chart.png": chart, "changes.patch": mended };
}

test("correct results pass", async () => {
  expect(await wrong({})).toBe("");
});

test("a wrong figure, a chart that is not a picture and a report that omits it are each found", async () => {
  expect(await wrong({ "report.md": report.replace("58", "59") })).toContain("1 of 16 figures");
  expect(await wrong({ "chart.png": "no picture" })).toContain("no PNG chart");
  expect(await wrong({ "report.md": report.replace("chart.png", "other.png") })).toContain("no PNG chart");
});

test("a patch that changes the tests, does not apply or does not fix the bug is found", async () => {
  const fault = (name: string, before: string, after: string) =>
    faultOfPatch(createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after), project, expected.config);
  expect(await fault("test_shipping.py", project["test_shipping.py"] ?? "", "")).toContain("not a file to fix");
  expect(await fault("shipping.py", "one\ntwo\nthree\n", "one\n2\nthree\n")).toContain("does not apply");
  expect(await fault("shipping.py", code, code)).toContain("changes nothing");
  expect(await faultOfPatch("", project, expected.config)).toContain("changes nothing");
  if (canRun)
    expect(await fault("shipping.py", code, code.replace("4.90", "4.80"))).toContain("the tests fail with it");
});

test("a registration that is missing, duplicated or different is found", async () => {
  const one = { number: "MH-1", given };
  expect(await wrong({}, [])).toContain("0 registrations");
  expect(await wrong({}, [one, { ...one, number: "MH-2" }])).toContain("2 registrations");
  expect(await wrong({}, [{ ...one, given: { ...given, country: "Sweden" } }])).toContain("something else");
  expect(await wrong({}, [{ ...one, number: "MH-9" }])).toContain("does not name");
});

test("the site collects the input of all its pages, and registers nobody twice", async () => {
  const site = startRegistrationSite();
  try {
    const post = (path: string, body: Record<string, string>) =>
      fetch(new URL(path, site.url), { method: "POST", body: new URLSearchParams(body) });
    const second = await (await post("/page/1", { name: "A<b>", email: "a@b.example" })).text();
    expect(second).toContain('value="A&lt;b&gt;"');
    const receipt = await (await post("/register", given)).text();
    expect(receipt).toContain("Your registration number is MH-4101");
    expect(await (await post("/register", given)).text()).toContain("MH-4101");
    expect(site.registrations).toEqual([{ number: "MH-4101", given }]);
  } finally {
    await site.close();
  }
});
