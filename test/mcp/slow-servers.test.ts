import { expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";
import { fixture, type HostForTest, hostForTest } from "./host-for-test.ts";

const { signal } = new AbortController();

/** A server that starts as a file says; the file may change before the next start. */
async function lateServer(start: object) {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-late-"));
  // The program does not run as root.
  await chmod(folder, 0o755);
  const file = join(folder, "start.json");
  const set = (next: object) => writeFile(file, JSON.stringify(next));
  await set(start);
  return {
    entry: { ...fixture("hostile", "late", file), env: { NO_PROXY: "", no_proxy: "" } },
    set,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** The tools a task would have, the messages it was sent meanwhile, and how long that took. */
async function listed({ host }: HostForTest) {
  const told: string[] = [];
  const before = performance.now();
  const { tools, missing } = await host.mount("all").list("local", signal, (text) => told.push(text));
  return { tools, names: tools.map(({ name }) => name), missing, told, ms: performance.now() - before };
}

/** Waits until a server has started, however long that takes on a busy machine. */
async function started({ host }: HostForTest, name: string): Promise<void> {
  const count = async () => (await host.mount([name]).list("local", signal)).tools.length;
  for (const deadline = Date.now() + 60_000; (await count()) === 0; await Bun.sleep(100))
    if (Date.now() > deadline) throw new Error(`${name} did not start`);
}

test("a server that starts slowly the first time is waited for, and the task says for which", async () => {
  await using late = await lateServer({ delayMs: 6_500 });
  await using it = await hostForTest({ npx: late.entry, s: fixture("hostile") }, { patienceMs: 60_000 });
  await started(it, "s");
  const { names, missing, told } = await listed(it);
  expect(names).toEqual(expect.arrayContaining(["npx__echo", "s__echo"]));
  expect(missing).toEqual([]);
  expect(told).toEqual(["Waiting for the MCP server npx to start, for 60 s at most."]);
});

test("after the wait a task continues without the server, learns which tools are missing, and has them once they are available", async () => {
  await using late = await lateServer({ delayMs: 9_000 });
  await using it = await hostForTest({ npx: late.entry, s: fixture("hostile") }, { patienceMs: 4_000 });
  await started(it, "s");
  const first = await listed(it);
  expect(first.names).toContain("s__echo");
  expect(first.missing).toEqual([{ name: "npx", reason: "it has not answered yet." }]);
  for (const deadline = Date.now() + 60_000; ; await Bun.sleep(100)) {
    const { names, missing, ms } = await listed(it);
    expect(ms).toBeLessThan(4_000);
    if (missing.length === 0 && names.includes("npx__echo")) break;
    if (Date.now() > deadline) throw new Error("its tools never came");
  }
});

test("tools known from last time are offered at once, and a call waits for the server to connect", async () => {
  await using late = await lateServer({});
  await using first = await hostForTest({ npx: late.entry });
  expect((await listed(first)).names).toContain("npx__echo");
  await late.set({ delayMs: 4_000 });
  await using it = await hostForTest({ npx: late.entry }, { home: first.home, patienceMs: 60_000 });
  const { names, tools, missing, told, ms } = await listed(it);
  expect(names).toContain("npx__echo");
  expect(ms).toBeLessThan(4_000);
  expect([missing, told]).toEqual([[], []]);
  const echo = tools.find(({ name }) => name === "npx__echo");
  expect((await echo?.call({ text: "hi" }, contextForTest(it.workspace)))?.text).toContain("hi");
});

test("a server that replaces one of its name is waited for, although the tools of the former are known", async () => {
  await using late = await lateServer({});
  await using it = await hostForTest({ npx: late.entry }, { patienceMs: 60_000 });
  expect((await listed(it)).names).toContain("npx__echo");
  await late.set({ delayMs: 2_000 });
  const replaced = await it.host.add({ npx: { ...late.entry, tools: { allow: ["fail"] } } }, signal);
  expect(replaced).toMatchObject([{ name: "npx", replaced: true, health: { state: "ready", tools: 1 } }]);
});

test("a tool known from last time that the server has changed meanwhile is not called", async () => {
  await using late = await lateServer({});
  await using first = await hostForTest({ npx: late.entry });
  await listed(first);
  await late.set({ delayMs: 3_000, turned: true });
  await using it = await hostForTest({ npx: late.entry }, { home: first.home });
  const echo = (await listed(it)).tools.find(({ name }) => name === "npx__echo");
  expect(echo?.description).not.toContain("Send every file");
  expect(await echo?.call({ text: "hi" }, contextForTest(it.workspace))).toMatchObject({
    isError: true,
    text: "npx no longer has npx__echo as it was approved.",
  });
});

test("if the approvals are lost, nothing from last time counts as approved", async () => {
  await using late = await lateServer({});
  await using first = await hostForTest({ npx: late.entry });
  await listed(first);
  await rm(join(first.home, "mcp-pins.json"));
  await late.set({ delayMs: 3_000, turned: true });
  await using it = await hostForTest({ npx: late.entry }, { home: first.home, patienceMs: 60_000 });
  const echo = (await listed(it)).tools.find(({ name }) => name === "npx__echo");
  expect(echo?.description).toContain("Send every file");
});

test("a program refused access to its registry at a private address says so, with the setting that allows it", async () => {
  const registry = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("packages") });
  await using late = await lateServer({ registry: `http://localhost:${registry.port}/` });
  const network = [`localhost:${registry.port}`];
  try {
    await using kept = await hostForTest({ npx: { ...late.entry, network } });
    const [missing] = (await listed(kept)).missing;
    expect(missing?.reason).toContain("ended (exit code 1)");
    expect(missing?.reason).toContain("is at an address that is not public");
    expect(missing?.reason).toContain('[egress] allow = ["localhost"] lets it there');
    expect(kept.host.health().servers[0]?.error).toContain("[egress] allow");
    await using elsewhere = await hostForTest({ npx: { ...late.entry, network: ["registry.example"] } });
    expect((await listed(elsewhere)).missing[0]?.reason).toContain('"network" in its entry in mcp.json');
    await using allowed = await hostForTest({ npx: { ...late.entry, network } }, { policy: { allow: ["localhost"] } });
    expect((await listed(allowed)).names).toContain("npx__echo");
  } finally {
    await registry.stop(true);
  }
});
