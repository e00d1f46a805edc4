import { expect, test } from "bun:test";
import { hostsNamedIn } from "./named-hosts.ts";
import { isInScope, mayOpen, type Scope } from "./scope.ts";

const scope = (rest: Partial<Scope> = {}): Scope => ({
  read: true,
  chosen: [],
  shown: new Set(),
  said: [],
  trusted: [],
  ...rest,
});
const opens = (url: string, rest?: Partial<Scope>) => mayOpen(new URL(url), scope(rest));

test("hosts are named by addresses and by bare names, not by files or mail", () => {
  const named = (text: string) => hostsNamedIn(text);
  expect(named("Look at https://www.shop.example/cart?a=1, please.")).toEqual(["*.shop.example"]);
  expect(named("Use shop.example and 127.0.0.1:8080.")).toEqual(["*.shop.example", "127.0.0.1:8080"]);
  expect(named("Mail bob@corp.example about report.md and main.py; e.g. now")).toEqual([]);
  expect(named("(see http://[::1]:80/x)")).toEqual([]);
  expect(named("打开 例子.example 看看")).toEqual(["*.xn--fsqu00a.example"]);
});

test("before anything was read every address may be opened", () => {
  expect(opens("http://anywhere.example/?q=1", { read: false })).toBe(true);
  expect(opens("http://anywhere.example/?q=1")).toBe(false);
});

test("hosts of the user, the configuration and the agent's first choice are in scope, with those below them", () => {
  for (const rest of [{ said: ["on shop.example"] }, { trusted: ["*.shop.example"] }, { chosen: ["*.shop.example"] }]) {
    expect(opens("https://www.shop.example/a?d=secret", rest)).toBe(true);
    expect(opens("https://shop.example.evil.example/", rest)).toBe(false);
    expect(opens("https://evil.example/?x=shop.example", rest)).toBe(false);
    expect(opens("https://notshop.example/", rest)).toBe(false);
  }
  expect(isInScope(new URL("http://127.0.0.1:2/"), scope({ said: ["http://127.0.0.1:1/"] }))).toBe(false);
});

test("an address a page gave may be opened as it is or cut short, never with anything added", () => {
  const shown = new Set(["https://news.example/a/b?id=1#top"]);
  for (const url of [
    "https://news.example/a/b?id=1#top",
    "https://news.example/a/b?id=1",
    "https://news.example/a/b",
    "https://news.example/a/",
    "https://news.example/",
  ])
    expect([url, opens(url, { shown })]).toEqual([url, true]);
  for (const url of [
    "https://news.example/a/b?id=2",
    "https://news.example/a/b?id=1#secret",
    "https://news.example/a/b?id=1&d=secret",
    "https://news.example/secret",
    "https://secret.news.example/",
    "http://news.example/",
    "https://news.example:8443/",
    "https://news.exampl/",
  ])
    expect([url, opens(url, { shown })]).toEqual([url, false]);
});

test("an address that was shown does not make its host one to type into", () => {
  expect(isInScope(new URL("https://news.example/"), scope({ shown: new Set(["https://news.example/"]) }))).toBe(false);
});
