import { expect, test } from "bun:test";
import { sameClick, sameFile, sameHosts } from "./same-kind.ts";

const unnamed = "Open “https://b.example/?d=1”, which you did not name";

test.each<[readonly string[], string | undefined, string | undefined]>([
  [
    ["https://b.example/1", " https://a.example:8443/2 ", "https://b.example/3"],
    undefined,
    "a.example:8443 and b.example",
  ],
  // What goes over http may be read and changed on its way: that is another kind.
  [["http://a.example/", "https://a.example/"], undefined, "a.example and http://a.example"],
  [["https://b.example/?d=1"], unnamed, "b.example, which you did not name and to which addresses can carry data"],
  [["https://b.example/?d=1"], unnamed.replace("”,", "” and 2 more addresses,"), "b.example, which"],
  [["https://b.example/"], `${unnamed}; Click “Pay” on b.example`, undefined],
  [["https://b.example/"], "Go on at “b.example”, which you did not name; so many choices", undefined],
  [["https://b.example/", "file:///etc/passwd"], undefined, undefined],
  [["https://b.example/", "no address"], undefined, undefined],
  [[], undefined, undefined],
])("calls that open %j, of which a person reads %p, are of one kind: %p", (urls, risk, kind) => {
  const found = sameHosts(urls, risk);
  if (kind === undefined) expect(found).toBeUndefined();
  else expect(found).toStartWith(`with pages of ${kind}`);
  if (risk === undefined) expect(found ?? "").not.toContain("did not name");
});

test("a file's calls are of one kind unless something is to be said of one, whatever it is called", () => {
  expect(sameFile("docs/Ümlaut 2.md", false, "It holds a secret.")).toBeUndefined();
  expect(sameFile(`${"x".repeat(200)}`, false, undefined)).toBe(`that changes ${"x".repeat(200)}`);
  for (const path of ["x".repeat(201), "", "a//b", "a,which you named"])
    expect([path, sameFile(path, true, undefined)]).toEqual([path, undefined]);
});

test("a click is of no kind when its sentence says more than words and host, or is none of a click", () => {
  for (const risk of [
    undefined,
    "Click “Pay” on a.example, which sent something",
    "Tap “Pay” on a.example",
    "Click “7” on a.example",
  ])
    expect([risk, sameClick(risk)]).toEqual([risk, undefined]);
  expect(sameClick("Click “Pay” on [::1]:80")).toBe("that clicks “Pay” on [::1]:80");
});
