import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "../../core/text/sha256.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { type McpServerByHand, mcpServerByHand, mcpStream, mcpTool } from "../../testing/mcp/server-by-hand.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createMcpHost, type McpHostOptions } from "./create-host.ts";

const base = await mkdtemp(join(tmpdir(), "manyhands-host-"));
afterAll(() => rm(base, { recursive: true }));
const { signal } = new AbortController();

/** A host with these entries in a home of its own, or in one that another left. */
async function hostOf(entries: object, more: Partial<McpHostOptions> = {}, home = join(base, crypto.randomUUID())) {
  await mkdir(home, { recursive: true });
  const file = join(home, "mcp.json");
  const write = (servers: object) => writeFile(file, JSON.stringify({ mcpServers: servers }));
  await write(entries);
  const logged: string[] = [];
  const policy = { allow: [], deny: [], only: [] };
  const host = await createMcpHost({
    ...{ file, named: true, env: {}, home, folder: join(home, "mcp"), kept: { home, others: [] }, policy },
    pinned: keptFile(join(home, "pins.json")),
    egress: createEgress(policy),
    proxy: undefined,
    patienceMs: 60_000,
    definitionTokens: 1_000_000,
    log: { info: (_, message) => logged.push(message), warn: (_, message) => logged.push(message) },
    signIns: () => ({ authorize: async () => undefined, widenScope: async () => undefined }),
    ...more,
  } as McpHostOptions);
  const list = async (names: readonly string[] | "all" = "all", principal = "local") => {
    const told: string[] = [];
    const { tools, missing } = await host.mount(names).list(principal, signal, (text) => told.push(text));
    return { names: tools.map(({ name }) => name), tools, missing, told };
  };
  return { host, home, file, write, logged, list, [Symbol.asyncDispose]: () => host.close() };
}
const at = ({ url }: McpServerByHand, more: object = {}) => ({ url, ...more });
const names = (servers: readonly { readonly name: string }[]) => servers.map(({ name }) => name);
const never = () => new Promise<undefined>(() => undefined);

test("an agent has the tools of the servers it names, for each principal over a connection of its own", async () => {
  using one = mcpServerByHand();
  using two = mcpServerByHand();
  await using it = await hostOf({ one: at(one), two: at(two), off: at(two, { disabled: true }) });
  expect(names(await it.host.servers())).toEqual(["one", "two"]);
  expect((await it.list(["two"])).names).toEqual(["two__echo"]);
  expect(one.asked).toEqual([]);
  expect((await it.list([])).names).toEqual([]);
  expect((await it.list("all")).names).toEqual(["one__echo", "two__echo"]);
  await Promise.all([it.list(["two"], "ann"), it.list(["two"], "ann")]);
  expect(names(it.host.health().servers)).toEqual(["two", "one"]);
  expect(it.host.health("ann").servers).toMatchObject([{ name: "two", state: "ready", connects: 1, tools: 1 }]);
  expect([it.host.health("bob"), two.sessions.size]).toEqual([{ servers: [] }, 2]);
});

test("each principal shows a server that it is itself, and no other", async () => {
  using web = mcpServerByHand();
  const shown = new Set<string | null>();
  web.answer = (_, { headers }) => {
    shown.add(headers.get("authorization"));
    return undefined;
  };
  const signIns: McpHostOptions["signIns"] = (principal) => ({
    authorize: async () => ({ token: async () => principal }),
    widenScope: async () => undefined,
  });
  await using it = await hostOf({ web: at(web) }, { signIns });
  await it.list("all", "ann");
  expect([...shown]).toEqual(["Bearer ann"]);
  await it.list("all", "bob");
  expect([...shown]).toEqual(["Bearer ann", "Bearer bob"]);
});

test("what a server offers one principal is kept apart from what it offers another", async () => {
  using web = mcpServerByHand();
  const first = await hostOf({ web: at(web) });
  await first.list("all", "ann");
  web.tools = [mcpTool("mine")];
  await first.list("all", "local");
  await first.host.close();
  web.answer = never;
  await using it = await hostOf({ web: at(web) }, {}, first.home);
  const [anns, ours] = await Promise.all([it.list("all", "ann"), it.list("all", "local")]);
  expect([anns.names, ours.names]).toEqual([["web__echo"], ["web__mine"]]);
  expect(await readFile(join(it.home, "mcp-tools", "of", sha256Of("ann"), "web.json"), "utf8")).toContain("echo");
});

test("an eager server is connected at the start, no other is", async () => {
  using soon = mcpServerByHand();
  using late = mcpServerByHand();
  await using it = await hostOf({ late: at(late), soon: at(soon, { start: "eager" }) });
  expect(names(it.host.health().servers)).toEqual(["soon"]);
  while (soon.sessions.size === 0) await Bun.sleep(1);
  expect(late.asked).toEqual([]);
});

test("a changed entry takes effect with the next list, over a new connection; a mistake in the file changes nothing", async () => {
  using web = mcpServerByHand();
  web.tools = ["a", "b"].map((name) => mcpTool(name));
  await using it = await hostOf({ web: at(web) });
  await it.list();
  await it.list();
  expect(web.asked.filter((one) => one === "initialize")).toHaveLength(1);
  await it.write({ web: at(web, { tools: { deny: ["a"] } }) });
  expect((await it.list()).names).toEqual(["web__b"]);
  expect(it.host.health().servers).toMatchObject([{ connects: 1, tools: 1 }]);
  await writeFile(it.file, "{");
  expect((await it.list()).names).toEqual(["web__b"]);
  expect(it.host.health().problem).toContain("not valid JSON");
  await it.write({});
  expect([(await it.list()).names, it.host.health()]).toEqual([[], { servers: [] }]);
});

test("a server that left the settings, was replaced or is closed with the host is used no more", async () => {
  using web = mcpServerByHand();
  await using it = await hostOf({ web: at(web) });
  await using room = await workspaceForTest();
  const call = async (tool = "web__echo") => {
    const found = (await it.list()).tools.find(({ name }) => name === tool);
    return () => found?.call({}, contextForTest(room.workspace));
  };
  const gone = { isError: true, text: expect.stringContaining("web is no longer in use.") };
  const [first] = [await call()];
  expect(await first()).toMatchObject({ isError: false });
  await it.write({ web: at(web, { timeout: 1_000 }) });
  const second = await call();
  expect([await first(), await second()]).toMatchObject([gone, { isError: false }]);
  await it.write({});
  await it.list();
  expect(await second()).toMatchObject(gone);
  await it.write({ web: at(web) });
  const third = await call();
  await it.host.close();
  expect(await third()).toMatchObject(gone);
});

test("a conversation that ends ends its calls that wait for a person's answer, and no other's", async () => {
  using web = mcpServerByHand();
  web.answer = (message) =>
    message.method !== "tools/call"
      ? undefined
      : mcpStream(
          (async function* () {
            yield {
              id: "q",
              method: "elicitation/create",
              params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
            };
            await never();
          })(),
        );
  await using it = await hostOf({ web: at(web) });
  await using ours = await workspaceForTest();
  await using theirs = await workspaceForTest();
  const [echo] = (await it.list("all", "ann")).tools;
  const ask = async () => {
    const { asks } = (await echo?.call({}, contextForTest(ours.workspace))) ?? {};
    expect(asks?.question).toContain("> Who?");
    const answer = { text: "decline", state: asks?.state ?? null };
    return (more: AbortSignal) => echo?.call({}, contextForTest(ours.workspace, { answer, signal: more }));
  };
  const kept = await ask();
  await it.host.mount("all").release(theirs.workspace);
  const stop = new AbortController();
  const going = kept(stop.signal);
  expect(await Promise.race([going, Bun.sleep(20).then(() => "it still waits")])).toBe("it still waits" as never);
  stop.abort("enough");
  await expect(going).rejects.toBe("enough");
  const ended = await ask();
  await it.host.mount("all").release(ours.workspace);
  expect(await ended(signal)).toMatchObject({ isError: true });
  const last = await ask();
  await it.host.close();
  expect(await last(signal)).toMatchObject({ isError: true });
});

test("servers are added and removed in the file, and what is there already is told as replaced", async () => {
  using web = mcpServerByHand();
  await using it = await hostOf({ web: at(web), other: { url: "http://x.example", disabled: true } });
  await it.list();
  const added = await it.host.add(
    { web: at(web, { timeout: 1_000 }), more: at(web), off: at(web, { disabled: true }) },
    signal,
  );
  expect(added).toMatchObject([
    { name: "web", replaced: true, health: { state: "ready", tools: 1 } },
    { name: "more", replaced: false, health: { state: "ready", tools: 1 } },
    { name: "off", replaced: false, health: "off" },
  ]);
  const { mcpServers } = JSON.parse(await readFile(it.file, "utf8"));
  expect([Object.keys(mcpServers), mcpServers.web.timeout]).toEqual([["web", "other", "more", "off"], 1_000]);
  await it.host.remove("web");
  expect(names(it.host.health().servers)).toEqual(["more"]);
  await expect(it.host.remove("web")).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining('"web"'),
  });
  await expect(it.host.add({ bad: {} }, signal)).rejects.toMatchObject({ code: "config_invalid" });
  expect(Object.keys(JSON.parse(await readFile(it.file, "utf8")).mcpServers)).toEqual(["other", "more", "off"]);
});

test("one server is opened by its name, inspected, and its definitions approved as they are now", async () => {
  using web = mcpServerByHand();
  web.tools = ["a", "b"].map((name) => mcpTool(name));
  await using it = await hostOf({ web: at(web) });
  await expect(it.host.open("wab")).rejects.toMatchObject({
    code: "not_found",
    message: `There is no MCP server "wab" in ${it.file}. Known: web.`,
  });
  await it.list();
  web.tools = [mcpTool("a", "Other."), mcpTool("b", "Other.")];
  await it.write({ web: at(web, { timeout: 1_000 }) });
  const one = await it.host.open("web");
  const { definitions, changed } = await one.inspect(signal);
  expect([names(definitions), changed]).toEqual([["a", "b"], new Set(["a", "b"])]);
  expect((await it.list()).names).toEqual([]);
  expect(it.host.health().servers).toMatchObject([{ tools: 0, disabled: ["a", "b"] }]);
  expect(await it.host.approve("web", signal)).toBe(2);
  expect((await it.list()).names).toEqual(["web__a", "web__b"]);
  await it.write({});
  await expect(it.host.open("web")).rejects.toThrow("Known: none.");
});

test("definitions that fit are all offered; one token more, and they are searched for", async () => {
  using web = mcpServerByHand();
  web.tools = ["a", "b"].map((name) => mcpTool(name));
  await using it = await hostOf({ web: at(web) });
  const { tools } = await it.list();
  const { estimateTokens } = await import("../../models/tokens.ts");
  const definitionTokens = tools.reduce((sum, tool) => sum + estimateTokens([], [tool]), 0);
  await using exact = await hostOf({}, { definitionTokens });
  await using less = await hostOf({}, { definitionTokens: definitionTokens - 1 });
  const offered = (host: typeof exact.host) =>
    names(host.mount("all").offer(tools, [{ name: "web__b", text: "" }], []));
  expect([offered(exact.host), offered(less.host)]).toEqual([
    ["web__a", "web__b"],
    ["find_tools", "web__b"],
  ]);
  // A definition is measured once, and is as large in the next turn.
  expect(offered(less.host)).toEqual(["find_tools", "web__b"]);
  const { mayHave } = exact.host.mount("all");
  expect(["find_tools", "web__a", "bash"].map((name) => mayHave(name))).toEqual([true, true, false]);
});

test("a server that never answered is waited for, told of, and missing; once it answers it has its tools", async () => {
  using slow = mcpServerByHand();
  using quick = mcpServerByHand();
  const gate = Promise.withResolvers<undefined>();
  slow.answer = ({ method }) => (method === "initialize" ? gate.promise : undefined);
  await using it = await hostOf({ slow: at(slow), quick: at(quick) }, { patienceMs: 1_700 });
  const haveAll = async (...servers: string[]) => (await it.list(servers)).names.length === servers.length;
  while (!(await haveAll("quick"))) await Bun.sleep(1);
  const first = await it.list();
  expect(first).toMatchObject({
    names: ["quick__echo"],
    missing: [{ name: "slow", reason: "it has not answered yet." }],
    told: ["Waiting for the MCP server slow to start, for 1.7 s at most."],
  });
  // Whoever comes later waits no longer than the first one's patience.
  const again = await it.list();
  expect([again.names, again.told]).toEqual([["quick__echo"], []]);
  expect(slow.asked.filter((one) => one === "initialize")).toHaveLength(1);
  gate.resolve(undefined);
  // Its patience is over, so nobody waits for the answer that is under way.
  while (!(await haveAll("slow", "quick"))) await Bun.sleep(1);
  const later = await it.list();
  expect(later).toMatchObject({ names: ["slow__echo", "quick__echo"], missing: [] });
  // One that has none to offer is there all the same.
  using bare = mcpServerByHand();
  bare.tools = [];
  await using other = await hostOf({ bare: at(bare) });
  expect(await other.list()).toMatchObject({ names: [], missing: [] });
});

test("tools known from last time are offered though the server does not answer, within a second; who needs them now waits", async () => {
  using web = mcpServerByHand();
  const before = await hostOf({ web: at(web) });
  await before.list();
  await before.host.close();
  const gate = Promise.withResolvers<undefined>();
  web.answer = () => gate.promise;
  await using it = await hostOf({ web: at(web) }, {}, before.home);
  const { names: known, missing, told } = await it.list();
  expect([known, missing, told]).toEqual([["web__echo"], [], []]);
  const one = await it.host.open("web");
  let isWaiting = true;
  const now = one.toolsNow(signal).finally(() => {
    isWaiting = false;
  });
  await Bun.sleep(1_100);
  expect(isWaiting).toBe(true);
  web.tools = ["echo", "new"].map((name) => mcpTool(name));
  gate.resolve(undefined);
  expect(names(await now)).toEqual(["web__echo", "web__new"]);
});

test("why a server cannot be used is told until it can, and while it rests nobody waits", async () => {
  // It rests for half a second, which is not over however long this takes.
  using time = spyOn(performance, "now").mockReturnValue(performance.now());
  using web = mcpServerByHand();
  web.answer = () => new Response("down", { status: 500 });
  await using it = await hostOf({ web: at(web) });
  const reason = expect.stringMatching(/^The MCP server web: /);
  expect(await it.list()).toMatchObject({ names: [], missing: [{ name: "web", reason }] });
  const asked = web.asked.length;
  expect(await it.list()).toMatchObject({ names: [], missing: [{ name: "web", reason }] });
  expect([web.asked.length, it.host.health().servers]).toMatchObject([
    asked,
    [{ state: "failed", error: reason, tools: 0 }],
  ]);
  expect(it.logged.filter((one) => one === "an MCP server cannot be used")).toHaveLength(1);
  time.mockRestore();
  web.answer = () => undefined;
  while (((await it.host.open("web")).health().connects ?? 0) === 0) {
    await Bun.sleep(50);
    await it.list();
  }
  expect(await it.list()).toMatchObject({ names: ["web__echo"], missing: [] });
  expect(it.host.health().servers).toMatchObject([{ state: "ready", tools: 1 }]);
  expect(it.host.health().servers[0]).not.toHaveProperty("error");
});

test("a server that failed once and then hangs holds up no task for longer than a second, and is there once it answers", async () => {
  using web = mcpServerByHand();
  web.answer = () => new Response("down", { status: 500 });
  await using it = await hostOf({ web: at(web) });
  await it.list();
  const gate = Promise.withResolvers<undefined>();
  web.answer = ({ method }) => (method === "initialize" ? gate.promise : undefined);
  const attempts = web.asked.length;
  const before = performance.now();
  while (web.asked.length === attempts) {
    expect(await it.list()).toMatchObject({ names: [], missing: [{ name: "web" }] });
    await Bun.sleep(20);
  }
  // It rests for half a second; the patience with a server that was never tried is a minute.
  expect(performance.now() - before).toBeLessThan(20_000);
  gate.resolve(undefined);
  while ((await it.list()).names.length === 0) await Bun.sleep(20);
  expect(await it.list()).toMatchObject({ names: ["web__echo"], missing: [] });
});

test("a task that ends while it waits for a server gives its own reason, before it begins and in the middle", async () => {
  using web = mcpServerByHand();
  web.answer = never;
  await using it = await hostOf({ web: at(web) });
  const list = (own: AbortSignal) => it.host.mount("all").list("local", own, undefined);
  await expect(list(AbortSignal.abort("before"))).rejects.toBe("before");
  expect(web.asked).toEqual([]);
  const stop = new AbortController();
  const waiting = list(stop.signal);
  waiting.catch(() => undefined);
  while (web.asked.length === 0) await Bun.sleep(1);
  stop.abort("meanwhile");
  await expect(waiting).rejects.toBe("meanwhile");
});
