import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { OpenedMcp } from "manyhands/internal/server/protocols/open-mcp";
import { type McpSettings, mcpSettings } from "./mcp-settings.ts";
import type { WithMcpDeps } from "./with-mcp.ts";

const root = mkdtempSync(join(tmpdir(), "manyhands-mcp-settings-"));
afterAll(() => rm(root, { recursive: true }));

const never = new AbortController().signal;
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

let count = 0;
/** The settings over this `mcp.json`, whose servers are what the test says. */
async function settingsOver(
  mcpServers: object,
  mcp: Partial<Record<"login" | "approve" | "open", (...given: never[]) => unknown>> = {},
  { toml = "", patienceMs = undefined as number | undefined } = {},
) {
  const cwd = join(root, String(++count));
  await mkdir(cwd);
  const path = join(cwd, "mcp.json");
  await writeFile(path, JSON.stringify({ mcpServers }));
  await writeFile(join(cwd, "manyhands.toml"), `[mcp]\nfile = "mcp.json"\n${toml}`);
  const config = await loadConfig({ cwd, env: {} });
  let using = 0;
  const use = async <Result>(_: object, __: object, work: (mcp: OpenedMcp) => Promise<Result>): Promise<Result> => {
    using++;
    return work(mcp as unknown as OpenedMcp).finally(() => using--);
  };
  const settings: McpSettings = mcpSettings(config, { env: {} } as WithMcpDeps, {
    ...{ use, ...(patienceMs !== undefined && { patienceMs }) },
  });
  const stored = async () => (JSON.parse(await readFile(path, "utf8")) as { mcpServers: object }).mcpServers;
  return { settings, stored, path, using: () => using };
}

/** A server that offers these tools, of which some changed. */
const offering = (tools: readonly string[], changed: readonly string[] = []) => ({
  inspect: async () => ({
    definitions: tools.map((name) => ({ name, inputSchema: { type: "object", title: name } })),
    changed: new Set(changed),
  }),
  health: () => ({ version: "2025-11-25", invalid: ["odd: no schema"] }),
});

test("servers are listed with their kind, the agents that have them, and no password or header", async () => {
  const { settings } = await settingsOver(
    {
      local: { command: "true", args: ["https://ann:sesame@db.example/x", "HTTPS://bob:sesame@db.example/y"] },
      open: { command: "true", trust: "unconfined", disabled: true },
      web: { url: "https://web.example/mcp", headers: { A: "sesame" } },
      old: { url: "https://old.example/sse", type: "sse" },
    },
    {},
    { toml: '[agents.swe]\nmcp = ["web"]\n[agents.manus]\nmcp = ["*"]\n[agents.browser]\nmcp = []\n' },
  );
  const listed = await settings.list();
  expect(listed.map(({ name, kind, enabled, sandboxed, agents }) => [name, kind, enabled, sandboxed, agents])).toEqual([
    ["local", "program", true, true, ["manus"]],
    ["open", "program", false, false, ["manus"]],
    ["web", "http", true, undefined, expect.arrayContaining(["manus", "swe"])],
    ["old", "sse", true, undefined, ["manus"]],
  ]);
  expect(listed[0]?.command).toContain("https://(secret)@db.example/x HTTPS://(secret)@db.example/y");
  expect(JSON.stringify(listed)).not.toContain("sesame");
});

test("a server is added beside the others under a free name, disabled, enabled and removed alone", async () => {
  const { settings, stored } = await settingsOver({ a: { command: "true" } });
  await settings.add("b", { command: "false" });
  await expect(settings.add("a", { command: "false" })).rejects.toMatchObject({ code: "conflict" });
  await settings.enable("b", false);
  expect(await stored()).toEqual({ a: { command: "true" }, b: { command: "false", disabled: true } });
  await settings.enable("b", true);
  await settings.remove("a");
  expect(await stored()).toEqual({ b: { command: "false", disabled: false } });
  for (const act of [() => settings.remove("a"), () => settings.enable("a", true)])
    await expect(act()).rejects.toMatchObject({ code: "not_found" });
});

test.each([
  [{ command: "true", trust: "unconfined" }, "`trust`"],
  [{ command: "true", trust: "anything" }, "`trust`"],
  ...["read", "write", "cwd"].map((key) => [{ command: "true", [key]: "/" }, `\`${key}\``] as const),
  [{ command: "true", args: [`\${HOME}`] }, "a variable of the servers"],
])("an entry that would open this machine is refused: %j", async (entry, what) => {
  const { settings, stored } = await settingsOver({});
  await expect(settings.add("x", entry)).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining(`${what} cannot be set from here`),
  });
  expect(await stored()).toEqual({});
});

test("what a server offers is shown, the schema of what changed with it, and approved only as it was shown", async () => {
  let offered = offering(["one", "two"], ["two"]);
  const approved: string[] = [];
  const { settings, using } = await settingsOver(
    { s: { command: "true" } },
    { open: async () => offered, approve: async (name: string) => approved.push(name) },
  );
  const shown = await settings.inspect("s", never);
  expect(shown).toEqual({
    ...{ state: "ready", protocol: "2025-11-25", milliseconds: expect.any(Number), seen: expect.any(String) },
    invalid: ["odd: no schema"],
    tools: [
      { name: "one", description: "", changed: false },
      { name: "two", description: "", changed: true, input: { type: "object", title: "two" } },
    ],
  });
  expect(await settings.approve("s", shown.seen ?? "", never)).toBe(1);
  offered = offering(["one", "three"]);
  await expect(settings.approve("s", shown.seen ?? "", never)).rejects.toMatchObject({ code: "conflict" });
  // Tools of the same names may do something else.
  const { inspect, ...same } = offering(["one", "two"], ["two"]);
  const other = async () => {
    const { definitions, ...found } = await inspect();
    return { ...found, definitions: definitions.map((one) => ({ ...one, description: "Sends it away." })) };
  };
  offered = { ...same, inspect: other };
  await expect(settings.approve("s", shown.seen ?? "", never)).rejects.toMatchObject({ code: "conflict" });
  expect([approved, using()]).toEqual([["s"], 0]);
});

test.each([
  ["unauthorized", "sign-in-needed"],
  ["unavailable", "failed"],
] as const)("a server that cannot be used, as it is %s, is shown as %s with the reason", async (code, state) => {
  const error = new AppError(code, "It is so.");
  const { settings } = await settingsOver({}, { open: () => Promise.reject(error) });
  expect(await settings.inspect("s", never)).toMatchObject({ state, error: "It is so.", tools: [] });
  await expect(settings.approve("s", "seen", never)).rejects.toBe(error);
});

test("no such server, a bug and a person who leaves are no findings about a server", async () => {
  for (const error of [new AppError("not_found", "There is none."), new TypeError("a bug")]) {
    const { settings } = await settingsOver({}, { open: () => Promise.reject(error) });
    await expect(settings.inspect("s", never)).rejects.toBe(error);
  }
  const leaving = new AbortController();
  const { settings } = await settingsOver({}, { open: async () => ({ inspect: untilAborted }) });
  const inspecting = settings.inspect("s", leaving.signal);
  leaving.abort(new Error("left"));
  await expect(inspecting).rejects.toThrow("left");
});

test("a server that is silent until patience ends has failed, and is not approved", async () => {
  const silent = { open: async () => ({ inspect: untilAborted }) };
  const { settings } = await settingsOver({}, silent, { patienceMs: 20 });
  expect(await settings.inspect("s", never)).toMatchObject({
    state: "failed",
    error: "It did not answer within 0.02 seconds.",
  });
  await expect(settings.approve("s", "seen", never)).rejects.toMatchObject({ code: "timeout" });
});

test("each look at a server has a minute, and whoever leaves is not kept, also while tools are approved", async () => {
  const seen: AbortSignal[] = [];
  const approve = async (_: string, signal: AbortSignal) => seen.push(signal);
  const { settings } = await settingsOver({}, { open: async () => offering(["a"]), approve });
  using limits = spyOn(AbortSignal, "timeout");
  const gone = new AbortController();
  const { seen: shown = "" } = await settings.inspect("s", gone.signal);
  expect(await settings.approve("s", shown, gone.signal)).toBe(1);
  expect(limits.mock.calls).toEqual([[60_000], [60_000], [60_000]]);
  expect(seen[0]?.aborted).toBe(false);
  gone.abort();
  expect(seen[0]?.aborted).toBe(true);
});

test("where the settings name a file of servers that is not there yet, there are none", async () => {
  const { settings, path } = await settingsOver({});
  await rm(path);
  expect(await settings.list()).toEqual([]);
});

test("a sign-in gives its address in the principal's name and goes on, and the list says how it went", async () => {
  const ends: { resolve(): void; reject(error: unknown): void }[] = [];
  const begun: unknown[][] = [];
  const { settings, using } = await settingsOver(
    { s: { url: "https://s.example/mcp" }, other: { url: "https://o.example/mcp" } },
    {
      login: (name: string, show: (address: string) => void, signal: AbortSignal, principal: string) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ends.push({ resolve, reject });
        begun.push([name, principal]);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        show(`https://id.example/${begun.length}`);
        return promise;
      },
    },
  );
  const state = async () => (await settings.list())[0]?.signIn;
  expect(await state()).toBeUndefined();
  expect(await settings.signIn("s", "ann")).toBe("https://id.example/1");
  expect([begun, await state(), using()]).toEqual([[["s", "ann"]], { state: "waiting" }, 1]);
  // One that is begun anew takes the place of the one before, which is given up first.
  expect(await settings.signIn("s", "bob")).toBe("https://id.example/2");
  expect([begun.length, await state(), using()]).toEqual([2, { state: "waiting" }, 1]);
  ends[1]?.reject(new AppError("forbidden", "The issuer said no."));
  await Bun.sleep(0);
  expect(await state()).toEqual({ state: "failed", error: "The issuer said no." });
  await settings.signIn("s", "ann");
  ends[2]?.resolve();
  await Bun.sleep(0);
  expect(await state()).toEqual({ state: "done" });
  await settings.signIn("s", "ann");
  expect((await settings.list())[1]).not.toHaveProperty("signIn");
  await settings.close();
  expect([await state(), using()]).toEqual([{ state: "failed", error: "signing in was given up." }, 0]);
});

test("of sign-ins begun at the same time the last one goes on, and none outlives the settings", async () => {
  const under = new Set<string>();
  const { settings, using } = await settingsOver(
    { s: { url: "https://s.example/mcp" } },
    {
      login: async (_: string, show: (address: string) => void, signal: AbortSignal, principal: string) => {
        under.add(principal);
        show(`https://id.example/${principal}`);
        await untilAborted(signal).finally(() => under.delete(principal));
      },
    },
  );
  for (const [first, second, third] of [
    ["ann", "bob", "cy"],
    ["dan", "eve", "fay"],
  ] as const) {
    const asked = [first, second, third].map((principal) => settings.signIn("s", principal));
    const given = await Promise.allSettled(asked);
    expect(given[2]).toEqual({ status: "fulfilled", value: `https://id.example/${third}` });
    expect(given[1]).toMatchObject({ reason: { code: "conflict" } });
    expect([[...under], using()]).toEqual([[third], 1]);
    expect((await settings.list())[0]?.signIn).toEqual({ state: "waiting" });
  }
  await settings.close();
  expect([[...under], using()]).toEqual([[], 0]);
});

test("a sign-in that needs no address, or fails before it has one, says so", async () => {
  const known = await settingsOver({}, { login: async () => undefined });
  await expect(known.settings.signIn("s", "ann")).rejects.toMatchObject({
    code: "conflict",
    message: "You are signed in to s already.",
  });
  const error = new AppError("unavailable", "There is no issuer.");
  const broken = await settingsOver({}, { login: () => Promise.reject(error) });
  await expect(broken.settings.signIn("s", "ann")).rejects.toBe(error);
});
