import { expect, spyOn, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import * as making from "../../machine/confinement/create-sandbox.ts";
import { createSandbox } from "../../machine/confinement/create-sandbox.ts";
import * as egresses from "../../machine/egress/egress.ts";
import * as hosts from "../../mcp/client/create-host.ts";
import * as credentials from "../../mcp/client/oauth/credential-store.ts";
import * as signIns from "../../mcp/client/oauth/sign-in.ts";
import { openShared } from "../storage/open-shared.ts";
import { checkServers, type OpenedMcp, openMcp } from "./open-mcp.ts";

test("no server's program is started in a folder that contains the home, mcp.json, the settings or the user's own folder", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-open-mcp-"));
  await chmod(base, 0o755);
  const folder = (name: string) => join(base, name);
  await Promise.all(["home", "entries", "settings"].map((name) => mkdir(folder(name))));
  await writeFile(join(folder("settings"), "manyhands.toml"), "");
  const places = { home: folder("home"), entries: folder("entries"), settings: folder("settings"), own: homedir() };
  const entry = (read: string) => ({ command: "true", read: [read] });
  const mcpServers = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, entry(place)]));
  const file = join(folder("entries"), "mcp.json");
  await writeFile(file, JSON.stringify({ mcpServers }));
  const sandbox = await createSandbox({ mode: "off", folder: join(folder("home"), "mcp") });
  const quiet = { info: () => undefined, warn: () => undefined };
  const mcp = await openMcp(
    {
      home: folder("home"),
      file: join(folder("settings"), "manyhands.toml"),
      mcp: { file, named: true, patienceMs: 10_000, definitionTokens: 1000 },
      egress: { allow: [], deny: [], only: [], proxy: undefined },
    },
    {
      sandbox,
      logger: quiet,
      shared: await openShared({ home: folder("home"), engine: { kind: "embedded" } }),
      env: {},
    },
  );
  try {
    await mcp.mount("all").list("local", AbortSignal.timeout(60_000));
    const errors = mcp.health().servers.map(({ name, error }) => [name, /its read \S+ holds \S+/.test(error ?? "")]);
    expect(Object.fromEntries(errors)).toEqual({ home: true, entries: true, settings: true, own: true });
  } finally {
    await mcp.close();
    await sandbox.close();
    await rm(base, { recursive: true });
  }
});

/** The MCP servers of a home whose host is a double; what the host was given, and who signed in. */
async function hosted(server: object, closing: () => unknown = () => undefined) {
  const home = await mkdtemp(join(tmpdir(), "manyhands-open-mcp-"));
  const steps: string[] = [];
  const close = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    steps.push("host closed");
    closing();
  };
  const double = { open: async () => ({ server }), close };
  const creating = spyOn(hosts, "createMcpHost").mockResolvedValue(double as never);
  const sandboxes = spyOn(making, "createSandbox").mockResolvedValue({
    close: async () => void steps.push("unconfined closed"),
  } as never);
  const signing = spyOn(signIns, "signIn").mockResolvedValue(undefined as never);
  const authorizing = spyOn(signIns, "authorizeBy").mockReturnValue({} as never);
  const reaching = spyOn(egresses, "createEgress");
  const stores = spyOn(credentials, "createCredentialStore").mockImplementation(
    (_, principal) => ({ principal }) as never,
  );
  const mcp = await openMcp(
    {
      home,
      file: undefined,
      mcp: { file: join(home, "mcp.json"), named: false, patienceMs: 10_000, definitionTokens: 1_000 },
      egress: { allow: ["a.example"], deny: [], only: [], proxy: "http://proxy.example:1" },
    },
    {
      sandbox: {} as never,
      logger: { info: () => undefined, warn: () => undefined },
      shared: await openShared({ home, engine: { kind: "embedded" } }),
      env: {},
    },
  );
  const [given] = creating.mock.calls[0] ?? [];
  if (given === undefined) throw new Error("no host");
  return {
    ...{ mcp, given, steps, sandboxes, signing, authorizing, reaching },
    async [Symbol.asyncDispose]() {
      for (const one of [creating, sandboxes, signing, authorizing, reaching, stores]) one.mockRestore();
      await rm(home, { recursive: true });
    },
  };
}

test("each principal signs in for itself, through the proxy of the settings", async () => {
  const url = "https://mcp.example";
  await using at = await hosted({ url });
  const { given, mcp, signing, authorizing, reaching } = at;
  expect(given).toMatchObject({ proxy: "http://proxy.example:1", policy: { allow: ["a.example"] } });
  const through = { allow: ["a.example"], deny: [], only: [] };
  expect(reaching.mock.calls).toEqual([[through, { proxy: "http://proxy.example:1" }]]);
  const { signal } = new AbortController();
  const show = () => undefined;
  await mcp.login("web", show, signal, "ann");
  await mcp.login("web", show, signal);
  const shown = signing.mock.calls.map(([server, { store, proxy, ...who }, ...rest]) => [
    ...[server, who, store, proxy],
    ...rest,
  ]);
  const of = (principal: string) => [
    { url },
    expect.objectContaining({ principal }),
    { principal },
    "http://proxy.example:1",
    show,
    signal,
  ];
  expect(shown).toEqual([of("ann"), of("local")] as never);
  await given.signIns("bob").authorize({ url } as never);
  expect(authorizing.mock.calls[0]?.[1]).toMatchObject({ principal: "bob", store: { principal: "bob" } });
});

test("there is nothing to sign in to at a program", async () => {
  await using at = await hosted({ command: "files" });
  const { signal } = new AbortController();
  await expect(at.mcp.login("files", () => undefined, signal)).rejects.toMatchObject({ code: "invalid_input" });
  expect(at.signing).not.toHaveBeenCalled();
});

test.each([false, true])(
  "what is closed ends the servers, and the sandbox of those that run unconfined: %p",
  async (used) => {
    await using at = await hosted({});
    if (used) await at.given.unconfined();
    expect(at.sandboxes.mock.calls.map(([settings]) => settings.mode)).toEqual(used ? ["off"] : []);
    await at.mcp.close();
    expect(at.steps).toEqual(used ? ["host closed", "unconfined closed"] : ["host closed"]);
  },
);

test("a server that cannot be ended leaves no sandbox of the others", async () => {
  await using at = await hosted({}, () => {
    throw new Error("it stays");
  });
  await at.given.unconfined();
  await expect(at.mcp.close()).rejects.toThrow("it stays");
  expect(at.steps).toEqual(["host closed", "unconfined closed"]);
});

const host = (...names: string[]) => ({ servers: async () => names.map((name) => ({ name })) }) as unknown as OpenedMcp;

test("an agent configured with an unknown server does not start", async () => {
  await checkServers("swe", "all", host());
  await checkServers("swe", ["files"], host("files", "web"));
  await checkServers("swe", [], host());
  await expect(checkServers("swe", ["files", "fiels"], host("files", "web"))).rejects.toThrow(
    '[agents.swe] mcp names "fiels", but the enabled servers are: files, web.',
  );
  await expect(checkServers("swe", ["files"], host())).rejects.toThrow("the enabled servers are: none.");
});
