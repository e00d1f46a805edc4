import { expect, test } from "bun:test";
import { offersOf } from "./offers.ts";

const machine = { shell: true, pythonLibraries: ["numpy"], web: true, browserMissing: undefined };

test("an agent's prompt mentions only what it will have", () => {
  expect(offersOf(machine, ["python"], ["swe"])).toEqual({
    plans: false,
    runsCode: true,
    pythonLibraries: ["numpy"],
    readsWeb: false,
    fetches: true,
    browserMissing: "It is switched off.",
    delegates: [],
  });
  expect(offersOf(machine, undefined, ["swe"])).toMatchObject({ readsWeb: true, delegates: ["swe"] });
  expect(offersOf(machine, undefined, []).browserMissing).toBeUndefined();
});

test("without a sandbox or a Python it promises neither", () => {
  const bare = { ...machine, shell: false, pythonLibraries: undefined };
  expect(offersOf(bare, undefined, [])).toMatchObject({ runsCode: false, pythonLibraries: undefined });
  expect(offersOf({ ...bare, shell: true }, ["python"], [])).toMatchObject({ runsCode: false });
  expect(offersOf({ ...machine, web: false }, undefined, [])).toMatchObject({ readsWeb: false, fetches: false });
});

test("code runs with a shell alone or a Python alone, and only for an agent that has the family", () => {
  const shellOnly = { ...machine, pythonLibraries: undefined };
  const pythonOnly = { ...machine, shell: false };
  for (const [facts, families, runsCode, pythonLibraries] of [
    [shellOnly, ["shell"], true, undefined],
    [shellOnly, ["files"], false, undefined],
    [pythonOnly, ["python"], true, ["numpy"]],
    [pythonOnly, ["shell"], false, undefined],
    [machine, ["shell"], true, undefined],
    [machine, ["files"], false, undefined],
  ] as const)
    expect(offersOf(facts, families, [])).toMatchObject({ runsCode, pythonLibraries });
});
