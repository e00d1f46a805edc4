import { expect, spyOn, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as sharing from "manyhands/internal/server/storage/open-shared";
import * as using from "../../settings/with-mcp.ts";
import { cliForTest } from "../../testing/cli.ts";

type Work = Parameters<typeof using.withMcp>[2];

/**
 * A command line over one server, of which one tool changed; what is asked of it, and of the shared
 * state.
 */
async function cliWithServer({ changed = new Set(["pay"]) } = {}) {
  const asked: unknown[] = [];
  const signals: AbortSignal[] = [];
  const mounted = [
    { name: "shop__find", description: "[MCP server shop] Finds." },
    { name: "shop__mcp_read_resource", description: "Reads." },
  ];
  const server = {
    inspect: async (signal: AbortSignal) => {
      signals.push(signal);
      return { definitions: [{ name: "find" }, { name: "pay" }], changed };
    },
    health: () => ({ command: `${"long ".repeat(40)}command`, version: "2025-11-25" }),
    tools: async () => mounted,
  };
  const mcp = {
    async open(name: string) {
      asked.push(["open", name]);
      return server;
    },
    async approve(name: string, signal: AbortSignal) {
      asked.push(["approve", name]);
      signals.push(signal);
      return 1;
    },
    async login(name: string, show: (address: string) => void, signal: AbortSignal, principal?: string) {
      asked.push(["login", name, principal]);
      signals.push(signal);
      show("https://id.example");
    },
  };
  const cli = await cliForTest({});
  const opened = spyOn(sharing, "openShared").mockResolvedValue({ close: async () => asked.push("closed") } as never);
  const withMcp = spyOn(using, "withMcp").mockImplementation((async (_: unknown, __: unknown, work: Work) =>
    work(mcp as never)) as typeof using.withMcp);
  return {
    ...{ cli, asked, signals },
    async [Symbol.asyncDispose]() {
      opened.mockRestore();
      withMcp.mockRestore();
      await cli[Symbol.asyncDispose]();
    },
  };
}

test("a server with a changed tool fails its test, which names the tool and the whole command, for programs too", async () => {
  await using it = await cliWithServer();
  const { cli, asked } = it;
  expect(await cli.run("mcp", "test", "shop")).toBe(1);
  expect(cli.out()).toStartWith(`${"long ".repeat(40)}command\n`);
  expect(cli.out()).toContain("1 of 2 tools, and 1 for its resources and prompts:\n");
  expect(cli.out()).toContain("disabled because it changed after approval: pay");
  expect(cli.said()).toContain("mcp approve shop");
  const before = cli.out().length;
  expect(await cli.run("mcp", "test", "shop", "--json")).toBe(1);
  expect(JSON.parse(cli.out().slice(before))).toMatchObject({ name: "shop", disabled: ["pay"], tools: [{}, {}] });
  expect(asked).toEqual([["open", "shop"], "closed", ["open", "shop"], "closed"]);
  await using fine = await cliWithServer({ changed: new Set() });
  expect(await fine.cli.run("mcp", "test", "shop")).toBe(0);
});

test("signing in is for who is named, or else for nobody by name, and waits for the person; a test waits a minute", async () => {
  const limits = spyOn(AbortSignal, "timeout");
  await using it = await cliWithServer();
  const { cli, asked, signals } = it;
  expect(await cli.run("mcp", "login", "shop", "--for", "ann")).toBe(0);
  expect(await cli.run("mcp", "login", "shop")).toBe(0);
  expect(cli.said()).toContain("https://id.example");
  expect(await cli.run("mcp", "approve", "shop")).toBe(0);
  expect(cli.said()).toContain("Approved 1 tool of shop. Running agents use it");
  const closed = "closed";
  expect(asked).toEqual([
    ...[["login", "shop", "ann"], closed, ["login", "shop", undefined], closed, ["approve", "shop"], closed],
  ] as never);
  const limited = limits.mock.results.map(({ value }) => value);
  expect(signals.map((signal) => limited.includes(signal))).toEqual([false, false, true]);
  expect(new Set(limits.mock.calls.flat())).toEqual(new Set([60_000]));
  limits.mockRestore();
});

/** The process that `mcp serve` becomes: its program, its arguments and its environment. */
async function served(args: readonly string[], env: Record<string, string> = {}) {
  await using cli = await cliForTest({ env });
  await writeFile(join(cli.cwd, "mine.toml"), "");
  const become = spyOn(process, "execve").mockImplementation((() => {
    throw new Error("It is another process now.");
  }) as never);
  const gone = await cli.run("mcp", "serve", ...args).catch((error: Error) => error.message);
  expect([gone, cli.said()]).toEqual(["It is another process now.", ""]);
  const [program, argv, told] = become.mock.calls[0] as unknown as [string, string[], Record<string, string>];
  become.mockRestore();
  return { program, argv, told, cwd: cli.cwd };
}

test("an agent is served in place of the command, here alone, with its name and the settings that were named", async () => {
  const env = { PUBLIC_URL: "https://team.example", PORT: "4105", MANYHANDS_TOKEN: "of-this-test", KEPT: "yes" };
  const { program, argv, told, cwd } = await served(["--config", "mine.toml", "--agent", "swe"], env);
  const entry = resolve(import.meta.dir, "../../../../agents/swe/src/server.ts");
  expect([program, argv]).toEqual([process.execPath, [process.execPath, entry, "--name", "swe", "--mcp-stdio"]]);
  expect(told).toMatchObject({
    ...{ PORT: "0", HOST: "127.0.0.1", KEPT: "yes" },
    ...{ MANYHANDS_HOME: join(cwd, ".manyhands"), MANYHANDS_CONFIG: expect.stringMatching(/mine\.toml$/) },
  });
  expect(told).not.toHaveProperty("PUBLIC_URL");
  expect((await served([])).argv).toContain("manus");
});

test("everything that is said of a server on the command line is written, and nothing that has no effect", async () => {
  await using cli = await cliForTest({});
  const added = async (...args: string[]) => {
    expect([args, await cli.run("mcp", "add", ...args)]).toEqual([args, 0]);
    return (await Bun.file(join(cli.cwd, "mcp.json")).json()).mcpServers[args[0] ?? ""];
  };
  const command = ["--", "serve-it", "--flag"];
  const about = ["--env", "A=b=c", "--cwd", "/srv", "--read", "/a", "--read", "/b", "--write", "/c"];
  expect(await added("p", ...about, "--network", "x.example", "--trust", "sandboxed", ...command)).toEqual({
    ...{ command: "serve-it", args: ["--flag"], env: { A: "b=c" }, cwd: "/srv" },
    ...{ read: ["/a", "/b"], write: ["/c"], network: ["x.example"], trust: "sandboxed" },
  });
  const url = "https://x.example/mcp";
  expect(await added("u", "--url", url, "--type", "sse", "--header", "A: b")).toEqual({
    ...{ url, type: "sse", headers: { A: "b" } },
  });
  expect(await added("bare", "--", "serve-it")).toEqual({ command: "serve-it" });
  for (const wrong of [
    ["--env", "=b"],
    ["--trust", "free"],
    ["--type", "grpc", "--url", url],
  ])
    expect([wrong, await cli.run("mcp", "add", "w", ...wrong, "--", "serve-it")]).toEqual([wrong, 2]);
  const file = await Bun.file(join(cli.cwd, "mcp.json")).json();
  await writeFile(
    join(cli.cwd, "mcp.json"),
    JSON.stringify({ mcpServers: { ...file.mcpServers, off: { command: "x", disabled: true } } }),
  );
  // Listing them is what `mcp` does by itself.
  expect(await cli.run("mcp")).toBe(0);
  expect(cli.out()).toMatch(/^off +disabled/m);
  expect(cli.out()).toMatch(/^u +sse/m);
});
