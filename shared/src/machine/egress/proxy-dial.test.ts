import { expect, test } from "bun:test";
import { admitTarget } from "./proxy-dial.ts";

const allow = ["intern.example", "mail.example:25"];
const ending = (url: string) => {
  try {
    return admitTarget(url, { allow, deny: [], only: [] }).href;
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

test("web ports and those above 1023 are allowed; any other only if host and port are allowed together", () => {
  for (const host of ["intern.example", "far.example"])
    for (const port of ["", ":80", ":443", ":1024", ":8080", ":65535"])
      expect(ending(`https://${host}${port}/`)).toBe(new URL(`https://${host}${port}/`).href);
  expect(ending("http://mail.example:25/")).toBe("http://mail.example:25/");
  for (const place of ["intern.example:22", "intern.example:25", "mail.example:22", "far.example:1023", "8.8.8.8:25"])
    expect([place, ending(`http://${place}/`)]).toEqual([place, expect.stringContaining("not one of the web")]);
});
