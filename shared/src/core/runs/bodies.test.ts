import { expect, test } from "bun:test";
import { AppError } from "../errors.ts";
import { assertBodies, bodiesOf, bodyFault, bodyOf, loadedBodies, mapBodies, newestBody } from "./bodies.ts";
import type { RunDefinition } from "./run.ts";

const saying =
  (text: string): RunDefinition["execute"] =>
  async () =>
    text;
const kind: RunDefinition = { kind: "k", body: 3, execute: saying("3"), former: [{ body: 2, execute: saying("2") }] };
const said = async (definition: RunDefinition) =>
  Promise.all(bodiesOf(definition).map(async ({ body, execute }) => `${body} ${await execute({} as never, null)}`));

test("a kind has its newest body and its former ones; without a version it has the first", async () => {
  expect(await said(kind)).toEqual(["3 3", "2 2"]);
  expect(bodyOf(kind, 1)).toBeUndefined();
  expect(newestBody({})).toBe(1);
  expect(await said({ kind: "k", execute: saying("x") })).toEqual(["1 x"]);
});

test("what wraps a kind wraps each of its bodies and leaves the versions as they are", async () => {
  const wrapped = mapBodies(kind, (execute) => async (run, input) => `(${await execute(run, input)})`);
  expect(await said(wrapped)).toEqual(["3 (3)", "2 (2)"]);
  expect(await said(mapBodies({ kind: "k", execute: saying("x") }, () => saying("y")))).toEqual(["1 y"]);
});

test("a kind that is loaded late has the versions that were named, each with its own body", async () => {
  let loads = 0;
  const load = async () => {
    loads++;
    return kind;
  };
  const late = loadedBodies("k", [3, 2], load);
  expect(bodiesOf(late).map(({ body }) => body)).toEqual([3, 2]);
  expect(loads).toBe(0);
  expect(await said(late)).toEqual(["3 3", "2 2"]);
  const echo: RunDefinition = { kind: "k", execute: async (run, input) => [run.id, input] };
  const loaded = loadedBodies("k", [], async () => echo);
  expect(loaded.kind).toBe("k");
  expect(await loaded.execute({ id: "r" } as never, "in")).toEqual(["r", "in"]);
  const wrong = loadedBodies("k", [4], load);
  await expect(wrong.execute({} as never, null)).rejects.toMatchObject({ code: "version_missing" });
});

test.each([
  [undefined, [], undefined],
  [3, [2, 1], undefined],
  [4, [3, 2, 1], "has 3 former bodies; 2 are the most"],
  [3, [3], "needs its bodies in order, the newest first, each with its own version"],
  [2, [1, 3], "needs its bodies in order, the newest first, each with its own version"],
  [0, [], "needs whole numbers from 1 as versions of its body"],
  [2, [1.5], "needs whole numbers from 1 as versions of its body"],
])("a kind with the body %p and the former ones %j has this fault: %p", (body, former, fault) => {
  const versions = former.map((version) => ({ body: version }));
  expect(bodyFault(body, versions)).toBe(fault);
});

test("a kind whose versions are wrong is refused by its name", () => {
  expect(() => assertBodies(kind)).not.toThrow();
  const error = "The run kind k needs its bodies in order, the newest first, each with its own version.";
  expect(() => assertBodies({ ...kind, body: 1 })).toThrow(new AppError("config_invalid", error));
});
