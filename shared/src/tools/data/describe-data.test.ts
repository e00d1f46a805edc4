import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "./data-for-test.ts";
import { describeData } from "./describe-data.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const describe = (path: string) => scene.call(describeData(scene), { path });

test("a CSV file is told by rows, types, missing values, ranges and first rows", async () => {
  await scene.write("a b.csv", "day,n,note\n2024-01-01,0,x\n2024-01-02,4,\n");
  const { text } = await describe("a b.csv");
  expect(text).toContain("a b.csv: 2 rows, 3 columns");
  expect(text).toContain("day | DATE | 0.00 % | 2 | 2024-01-01 | 2024-01-02");
  expect(text).toContain("n | BIGINT | 0.00 % | 2 | 0 | 4 | 2.0");
  expect(text).toContain("note | VARCHAR | 50.00 %");
  expect(text).toContain("2024-01-02 | 4 | NULL");
});

test("a large CSV file is described in seconds", async () => {
  const signal = AbortSignal.timeout(30_000);
  const make =
    "COPY (SELECT i, 'name ' || (i % 9) AS name, random() AS x, repeat('y', 60) AS y FROM range(400000) t(i)) TO 'big.csv'";
  await scene.databases.query(scene.workspace, make, { signal });
  const begun = performance.now();
  expect((await describe("big.csv")).text).toContain("big.csv: 400000 rows, 4 columns");
  expect(performance.now() - begun).toBeLessThan(8_000);
});

test("a line of a million columns is refused with a clear error, first or later", async () => {
  const line = Array.from({ length: 1_000_000 }, (_, at) => `c${at}`).join(",");
  await scene.write("wide.csv", `${line}\n`);
  await scene.write("later.csv", `a,b\n1,2\n${line}\n`);
  const [first, later] = [await describe("wide.csv"), await describe("later.csv")];
  expect(first).toEqual({
    text: "The first line of wide.csv is longer than 1 MB: this is not a table that can be read.",
    isError: true,
  });
  expect(later.isError).toBe(true);
  expect(later.text.length).toBeLessThan(5_000);
});

test("a small file that unpacks to one huge line is stopped by the limits", async () => {
  await scene.write("bomb.csv.gz", Bun.gzipSync(Buffer.alloc(10_000_000, "a")));
  const { text, isError } = await describe("bomb.csv.gz");
  expect(isError).toBe(true);
  expect(text.length).toBeLessThan(5_000);
}, 30_000);

test("what is no table, empty, missing or outside is said so", async () => {
  await scene.write("x.xlsx", "PK");
  await scene.write("empty.csv", "");
  expect((await describe("x.xlsx")).text).toContain("openpyxl");
  expect((await describe("empty.csv")).text).toBe("empty.csv is empty.");
  expect((await describe("none.csv")).text).toBe("The path none.csv does not exist.");
  expect((await describe("../../x.csv")).text).toContain("outside the workspace");
});
