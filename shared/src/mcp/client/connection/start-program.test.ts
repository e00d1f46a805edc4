import { expect, test } from "bun:test";
import { networkOf } from "./start-program.ts";

test("a program that fetches itself reaches its registry; an entry that names hosts allows only those", () => {
  const reached = (command: string, network?: string[]) => networkOf({ command, network });
  expect(reached("npx")).toEqual(["registry.npmjs.org"]);
  expect(reached("/usr/local/bin/uvx")).toEqual(["pypi.org", "files.pythonhosted.org"]);
  expect(reached("node")).toEqual([]);
  expect(reached("npx", [])).toEqual([]);
  expect(reached("npx", ["npm.example"])).toEqual(["npm.example"]);
  expect(reached("constructor")).toEqual([]);
});
