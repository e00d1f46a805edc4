import { expect, test } from "bun:test";
import { offersOf } from "./offers.ts";

const machine = { shell: true, pythonLibraries: ["numpy"], web: true, browserMissing: undefined };

test("an agent's prompt mentions only what it will have", () => {
  expect(offersOf(machine, ["python"], ["swe"])).toEqual({
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
