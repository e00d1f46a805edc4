import { expect, test } from "bun:test";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { requestedVersion, requireVersionOne } from "./version.ts";

const request = (header?: string, query = "") =>
  new Request(`http://agent.test/${query}`, header === undefined ? {} : { headers: { "A2A-Version": header } });

test.each([
  ["1.0", "", undefined, "1.0"],
  ["1.0.1", "", undefined, "1.0"],
  ["0.3", "", "SendMessage", "0.3"],
  ["0.3.0", "", undefined, "0.3"],
  [undefined, "?A2A-Version=1.0", undefined, "1.0"],
  ["0.3", "?A2A-Version=1.0", undefined, "0.3"],
  ["", "?A2A-Version=1.0", undefined, "1.0"],
  [undefined, "?A2A-Version=1.0&other=2", undefined, "1.0"],
  [undefined, "", undefined, "0.3"],
  [undefined, "", "message/send", "0.3"],
  [undefined, "", "SendMessage", "1.0"],
  [undefined, "", "ListTasks", "1.0"],
] as const)("header %p, query %p and method %p mean %s", (header, query, method, version) => {
  expect(requestedVersion(request(header, query), method)).toBe(version);
});

test.each(["2.0", "1", "1.1", "0.2.5", "one", "1.0.1.2"])("version %s is refused", (version) => {
  expect(() => requestedVersion(request(version), "SendMessage")).toThrow(VersionNotSupportedError);
});

test("two versions are none that is served", () => {
  expect(() => requestedVersion(request(undefined, "?A2A-Version=1.0&A2A-Version=0.3"))).toThrow("1.0, 0.3");
});

test("a binding that is 1.0 only says so of every other version, whether or not another binding has it", () => {
  expect(() => requireVersionOne(request("1.0.1"))).not.toThrow();
  for (const version of [undefined, "0.3", "2.0", "one"])
    expect(() => requireVersionOne(request(version))).toThrow(
      /in version 1\.0 only: send the header A2A-Version: 1\.0$/,
    );
});
