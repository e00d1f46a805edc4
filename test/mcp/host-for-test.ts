import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Tool, ToolContext, ToolResult } from "manyhands/internal/core/tools/tool";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { createMcpHost, type McpHost } from "manyhands/internal/mcp/client/create-host";
import type { Workspace } from "../../shared/src/core/workspace.ts";
import { createSandbox } from "../../shared/src/machine/confinement/create-sandbox.ts";
import { createEgress } from "../../shared/src/machine/egress/egress.ts";
import { openWorkspace } from "../../shared/src/machine/workspace/open-workspace.ts";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";

/**
 * The folders of the installed servers, of our fixtures' imports and of Bun, which their entries
 * allow them to read.
 */
const folders = [
  resolve(import.meta.dir, "../../node_modules"),
  resolve(import.meta.dir, ".."),
  dirname(process.execPath),
];

/** A variable as an entry writes it. */
export const variable = (name: string) => `\${${name}}`;

/** The entry of one of our servers, run by Bun. */
export function fixture(name: string, ...args: string[]) {
  return {
    command: process.execPath,
    args: [join(import.meta.dir, `${name}.fixture.ts`), ...args],
    read: folders,
  };
}

/** The entry of an installed server, run by Node. */
export function installed(entry: string, ...args: string[]) {
  return { command: "node", args: [Bun.resolveSync(entry, import.meta.dir), ...args], read: folders };
}

/** A host in a folder that `await using` removes. */
export type HostForTest = AsyncDisposable & {
  readonly host: McpHost;
  readonly home: string;
  readonly file: string;
  readonly workspace: Workspace;
  /** The messages logged as warnings. */
  readonly warnings: string[];
  write(servers: object): Promise<void>;
  tools(principal?: string): Promise<readonly Tool[]>;
  /** Calls a tool by the name it is mounted under. */
  call(name: string, input?: object, context?: Partial<ToolContext>): Promise<ToolResult>;
};

type Options = {
  readonly definitionTokens?: number;
  readonly env?: Record<string, string>;
  readonly sandbox?: "auto" | "off";
  /** Domains that commands may reach; servers ignore it. */
  readonly allowDomains?: readonly string[];
  readonly proxy?: string;
  readonly patienceMs?: number;
  /** The home of another host, which is kept; a new one if left out. */
  readonly home?: string;
  readonly policy?: { readonly deny?: readonly string[]; readonly allow?: readonly string[] };
};

/** Creates one with these entries in its `mcp.json`. For tests. */
export async function hostForTest(servers: object, options: Options = {}): Promise<HostForTest> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "manyhands-mcp-")));
  await chmod(home, 0o711);
  const file = join(home, "mcp.json");
  const folder = join(home, "mcp");
  await mkdir(folder, { recursive: true });
  const write = (entries: object) => writeFile(file, JSON.stringify({ mcpServers: entries }));
  await write(servers);
  const sandbox = await createSandbox({
    mode: options.sandbox ?? "auto",
    folder,
    network: { allow: options.allowDomains ?? [] },
  });
  const warnings: string[] = [];
  const policy = { allow: [], deny: [], only: [], ...options.policy };
  const host = await createMcpHost({
    file,
    named: true,
    env: options.env ?? {},
    home,
    pinned: keptFile(join(home, "mcp-pins.json")),
    folder,
    kept: { home, others: [homedir(), file] },
    sandbox,
    unconfined: () => createSandbox({ mode: "off", folder }),
    egress: createEgress(policy),
    policy,
    proxy: options.proxy,
    patienceMs: options.patienceMs ?? 60_000,
    definitionTokens: options.definitionTokens ?? 1_000_000,
    log: { info: () => undefined, warn: (fields, message) => warnings.push(`${message} ${Bun.inspect(fields)}`) },
    signIns: () => ({ authorize: async () => undefined, widenScope: async () => undefined }),
  });
  const workspace = await openWorkspace({ home, principal: "local", contextId: "c", user: sandbox.user });
  const mounted = host.mount("all");
  const tools = async (principal = "local") => (await mounted.list(principal, new AbortController().signal)).tools;
  return {
    host,
    home,
    file,
    workspace,
    warnings,
    write,
    tools,
    async call(name, input = {}, context = {}) {
      const known = await tools();
      const tool = known.find((one) => one.name === name);
      if (tool === undefined)
        throw new Error(
          `There is no ${name} among ${known.map((one) => one.name).join(", ")}; ${Bun.inspect(host.health())}`,
        );
      return tool.call(input, contextForTest(workspace, context));
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await sandbox.close();
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}
