import { expect, test } from "bun:test";
import type { Settings } from "manyhands/internal/config/settings/settings";
import { refuseOverridden } from "./overridden.ts";

/** What is said of a change to a key that was set there, with this settings file. */
function refusal(origin: string | undefined, file: string | undefined, changes = true): string | undefined {
  const origins = new Map(origin === undefined ? [] : [["llm.model", origin]]);
  try {
    refuseOverridden({ origins, file } as unknown as Settings, "llm.model", changes);
    return undefined;
  } catch (error) {
    return (error as Error).message.split(" ")[0];
  }
}

test("only what a variable sets cannot be changed in the file, whether there is a file or not", () => {
  const variable = "MANYHANDS_MODEL";
  expect([refusal(variable, "/a.toml"), refusal(variable, undefined)]).toEqual([variable, variable]);
  expect([refusal("/a.toml, line 3", "/a.toml"), refusal(undefined, "/a.toml")]).toEqual([undefined, undefined]);
  expect(refusal(variable, undefined, false)).toBeUndefined();
});
