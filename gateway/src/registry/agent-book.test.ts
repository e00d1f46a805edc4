import { expect, test } from "bun:test";
import { agentBook, isSameUrl } from "./agent-book.ts";
import type { KeptAgent, RegistryFile } from "./registry-file.ts";

/** A book over a file in memory, which other gateways of the home may change too. */
function bookOf(configured: Parameters<typeof agentBook>[0] = [], ...agents: readonly KeptAgent[]) {
  const kept = { agents: agents as readonly KeptAgent[] };
  const file: RegistryFile = {
    read: async () => kept.agents,
    async update(change) {
      kept.agents = change(kept.agents);
    },
  };
  const breaker = { failures: 5, pauseMs: 1, maxPauseMs: 1 };
  const deps = { policy: async () => undefined, inside: (url: string) => url, breaker, file, reserved: ["debate"] };
  const book = agentBook(configured, deps);
  const all = () => book.all().map(({ address: { name, url, source } }) => `${name} ${url} ${source}`);
  return { book, kept, all };
}

const settings = { name: "swe", url: "http://swe.example/a" };

test("a name is taken once: by an agent of the settings, by a flow, or by another address", async () => {
  const { book, kept, all } = bookOf([settings]);
  for (const [agent, why] of [
    [settings, "swe is the agent at http://swe.example/a"],
    [{ name: "debate", url: "http://d.example" }, "debate is the name of a flow"],
  ] as const)
    await expect(book.keep(agent)).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(why) });
  expect(kept.agents).toEqual([]);
  await book.keep({ name: "other", url: "http://o.example", token: "old" });
  await expect(book.keep({ name: "other", url: "http://p.example" })).rejects.toMatchObject({ code: "conflict" });
  // The same address may come again, with another token.
  const renewed = { name: "other", url: "http://o.example/", token: "new" };
  await book.keep(renewed);
  expect(kept.agents).toEqual([renewed]);
  expect(all()).toEqual(["swe http://swe.example/a configured", "other http://o.example/ registered"]);
});

test("of two addresses that are to have one name at the same time one gets it, also at two gateways", async () => {
  const { book, kept } = bookOf();
  const both = ["http://one.example", "http://two.example"].map((url) => book.keep({ name: "maps", url }));
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  // Another gateway has registered it, which is not read yet.
  kept.agents = [...kept.agents, { name: "other", url: "http://o.example" }];
  await expect(book.keep({ name: "other", url: "http://p.example" })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("other is the agent at http://o.example"),
  });
  expect(kept.agents.map(({ url }) => url)).toEqual(["http://one.example", "http://o.example"]);
});

test("every agent of the settings is there, and an address belongs to the first agent above it", () => {
  const { book, all } = bookOf([settings, { name: "maps", url: "http://swe.example" }]);
  expect(all()).toEqual(["swe http://swe.example/a configured", "maps http://swe.example configured"]);
  const owner = (url: string) => book.ownerOf(url)?.address.name;
  expect(["http://swe.example/a/b", "http://swe.example/ab", "http://swe.example.evil"].map(owner)).toEqual([
    "swe",
    "maps",
    undefined,
  ]);
});

test("an agent is kept beside those that were registered before it", async () => {
  const { book, kept } = bookOf([settings], { name: "earlier", url: "http://e.example" });
  await book.reread();
  await book.keep({ name: "first", url: "http://f.example" });
  await book.keep({ name: "second", url: "http://s.example" });
  expect(kept.agents.map(({ name }) => name)).toEqual(["earlier", "first", "second"]);
});

test("what another gateway registered, changed or removed is known after the next reading, the settings' agents stay", async () => {
  const { book, kept, all } = bookOf([settings], { name: "swe", url: "http://evil.example" });
  kept.agents = [...kept.agents, { name: "one", url: "http://one.example", token: "a" }];
  await book.reread();
  expect(all()).toEqual(["swe http://swe.example/a configured", "one http://one.example registered"]);
  const same = book.find("one");
  await book.reread();
  // What is known of its health is not forgotten at each reading.
  expect(book.find("one")).toBe(same);
  kept.agents = [{ name: "one", url: "http://one.example", token: "b" }];
  await book.reread();
  expect(book.find("one").address.token).toBe("b");
  kept.agents = [{ name: "one", url: "http://elsewhere.example", token: "b" }];
  await book.reread();
  expect(all().at(-1)).toBe("one http://elsewhere.example registered");
  kept.agents = [];
  await book.reread();
  expect(all()).toEqual(["swe http://swe.example/a configured"]);
});

test("a registered agent is forgotten, alone; one of the settings or an unknown one is not", async () => {
  const { book, kept, all } = bookOf([settings]);
  for (const name of ["one", "two"]) await book.keep({ name, url: `http://${name}.example` });
  await book.forget("one");
  expect([kept.agents.map(({ name }) => name), all().length, book.get("one")]).toEqual([["two"], 2, undefined]);
  await expect(book.forget("swe")).rejects.toMatchObject({ code: "conflict" });
  await expect(book.forget("one")).rejects.toThrow('There is no agent "one". Known: swe, two.');
  expect(() => bookOf().book.find("x")).toThrow("Known: none.");
});

test("a listener hears of every name once, those before it and those after it", async () => {
  const { book } = bookOf([settings]);
  const heard: string[] = [];
  book.each((name) => heard.push(name));
  await book.keep({ name: "one", url: "http://one.example" });
  await book.keep({ name: "one", url: "http://one.example", token: "x" });
  const late: string[] = [];
  book.each((name) => late.push(name));
  expect([heard, late]).toEqual([
    ["swe", "one"],
    ["swe", "one"],
  ]);
});

test.each([
  ["http://swe.example/a", true],
  ["http://swe.example/a/", true],
  ["http://swe.example/a/artifacts/x?y=1", true],
  ["http://swe.example/ab", false],
  ["http://swe.example/", false],
  ["http://swe.example:81/a", false],
  ["https://swe.example/a", false],
  ["http://swe.example.evil.example/a", false],
  ["nonsense", false],
])("%s belongs to the agent at http://swe.example/a: %p", (url, belongs) => {
  for (const own of [settings, { ...settings, url: `${settings.url}/` }])
    expect(bookOf([own]).book.ownerOf(url)?.address.name).toBe((belongs ? "swe" : undefined) as string);
});

test("addresses are the same but for slashes at their end", () => {
  const same = [
    ["http://a", "http://a/"],
    ["http://a//", "http://a"],
    ["http://a/b", "http://a"],
    ["http://a", "http://b"],
  ];
  expect(same.map(([one = "", other = ""]) => isSameUrl(one, other))).toEqual([true, true, false, false]);
});
