import { firstAgent } from "manyhands/internal/config/named-agent";
import { ownCommand } from "manyhands/internal/core/release";
import { readServers } from "manyhands/internal/mcp/client/servers/read-servers";
import { isProgram, type ServerConfig } from "manyhands/internal/mcp/client/servers/server-config";
import type { OpenedMcp } from "manyhands/internal/server/protocols/open-mcp";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import type { CliContext } from "../../session/context.ts";
import { everyVariable, withMcp } from "../../settings/with-mcp.ts";
import { agentEntry, argsOf } from "../../supervisor/server-table.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { paint } from "../../terminal/style.ts";

type Options = { readonly config?: string; readonly json?: boolean };

const patienceMs = 60_000;

/** Lists the servers of `mcp.json` and their exact commands without starting them. */
export async function listServers(options: Options, { configure, env, terminal }: CliContext): Promise<number> {
  const { mcp } = await configure(options.config);
  const servers = await readServers(mcp.file, mcp.named, everyVariable(env));
  if (options.json) {
    const rows = servers.map((one) => ({ name: one.name, command: one.shown, start: one.start, kind: kindOf(one) }));
    terminal.out(`${JSON.stringify(rows, undefined, 2)}\n`);
    return exitCodes.ok;
  }
  const { style } = terminal;
  const rows = servers.map((one) => [safeLine(one.name, 64), kindOf(one), whole(one.shown)] as const);
  const [names, kinds] = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const [name, kind, command] of rows)
    terminal.out(
      `${paint(style, "bold", name.padEnd(names ?? 0))}  ${paint(style, "dim", kind.padEnd(kinds ?? 0))}  ${command}\n`,
    );
  if (rows.length === 0) terminal.say(`There are no MCP servers. Add one: ${ownCommand} mcp add NAME -- COMMAND …`);
  // A variable that is not set here may be set where agents start.
  await readServers(mcp.file, mcp.named, env).catch((error: Error) => terminal.say(error.message));
  return exitCodes.ok;
}

/** The kind of server, and whether it is sandboxed or disabled. */
function kindOf(server: ServerConfig): string {
  if (server.disabled) return "disabled";
  if (isProgram(server)) return server.trust === "unconfined" ? "program, unconfined" : "program, sandboxed";
  return server.type === "sse" ? "sse" : "http";
}

/**
 * Connects to a server as an agent does, and shows its tools and which of them changed since they
 * were approved. Fails if the server cannot be used.
 */
export async function testServer(name: string, options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp, signal) => {
    const server = await mcp.open(name);
    const startedAt = performance.now();
    const { definitions, changed } = await server.inspect(signal);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { command, version, invalid = [] } = server.health();
    const mounted = await server.tools(signal);
    const { terminal } = context;
    if (options.json) {
      const tools = mounted.map((tool) => ({ name: tool.name, description: tool.description }));
      terminal.out(
        `${JSON.stringify({ name, command, version, tools, disabled: [...changed], invalid }, undefined, 2)}\n`,
      );
    } else {
      terminal.out(`${whole(command)}\n`);
      const ours = mounted.filter(({ name }) => /__mcp_(?:read_resource|get_prompt)$/.test(name)).length;
      const more = ours === 0 ? "" : `, and ${ours} for its resources and prompts`;
      const works = paint(terminal.style, "green", "Works");
      const count = mounted.length - ours;
      const of = count === definitions.length ? "" : ` of ${definitions.length}`;
      const tools = `${count}${of} ${definitions.length === 1 ? "tool" : "tools"}${more}`;
      terminal.out(`${works}: connected in ${seconds} s, protocol ${version}. ${tools}:\n`);
      const width = Math.min(40, Math.max(0, ...mounted.map((tool) => tool.name.length)));
      for (const { name: tool, description } of mounted)
        terminal.out(`  ${tool.padEnd(width)}  ${line(ownWords(description), context, width + 4)}\n`);
      for (const tool of changed)
        terminal.out(`  ${line(`disabled because it changed after approval: ${tool}`, context)}\n`);
      for (const tool of invalid)
        terminal.out(`  ${line(`left out because its definition is invalid: ${tool}`, context)}\n`);
    }
    if (changed.size > 0) terminal.say(`Review the changes, then approve them: ${ownCommand} mcp approve ${name}`);
    return changed.size > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

/** Approves the tools a server defines now. */
export async function approveServer(name: string, options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp, signal) => {
    const tools = await mcp.approve(name, signal);
    context.terminal.say(
      `Approved ${tools} ${tools === 1 ? "tool" : "tools"} of ${name}. Running agents use ${tools === 1 ? "it" : "them"} from the next turn on.`,
    );
    return exitCodes.ok;
  });
}

/** Signs in to a server: prints the address to open, and waits for the browser to come back. */
export async function loginServer(
  name: string,
  options: Options & { readonly for?: string },
  context: CliContext,
): Promise<number> {
  return withServers(options, context, async (mcp) => {
    const show = (address: string) =>
      context.terminal.say(`Open this address in your browser to sign in:\n\n${address}\n`);
    await mcp.login(name, show, new AbortController().signal, options.for);
    context.terminal.say(`Signed in to ${name}.`);
    return exitCodes.ok;
  });
}

async function withServers(
  options: Options,
  { configure, env, terminal }: CliContext,
  work: (mcp: OpenedMcp, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const config = await configure(options.config);
  const shared = await openShared(config);
  try {
    const warn = (message: string) => terminal.say(message);
    return await withMcp(config, { env, shared, warn }, (mcp) => work(mcp, AbortSignal.timeout(patienceMs)));
  } finally {
    await shared.close();
  }
}

/** A command is never cut: people decide by it. */
function whole(command: string): string {
  return safeLine(command, Number.POSITIVE_INFINITY);
}

/** A text cut to the rest of a line. */
function line(text: string, { terminal }: CliContext, beside = 2): string {
  return safeLine(text, Math.max(80, terminal.style.columns) - beside);
}

/** A tool's own description, without the server's name, which is in the tool's name. */
function ownWords(description: string): string {
  return description.replace(/^\[MCP server [^\]]*\] /, "");
}

/** Options of `mcp serve`. */
export type McpServeOptions = { readonly config?: string; readonly agent?: string };

/**
 * Replaces this process with an agent's server that speaks MCP over its standard streams, so that
 * nothing is between it and its caller. The server also listens on a free loopback port, which
 * serves the files of its answers. Returns only by rejecting.
 */
export async function serveMcp({ config: file, agent }: McpServeOptions, context: CliContext): Promise<never> {
  const config = await context.configure(file);
  const entry = agentEntry(agent ?? firstAgent(config), config);
  if (process.execve === undefined) throw new Error("process.execve is missing: Bun 1.4.4 or newer is needed");
  const { PUBLIC_URL: _, ...env } = context.env;
  const told = { ...env, PORT: "0", HOST: "127.0.0.1", MANYHANDS_HOME: config.home, MANYHANDS_CONFIG: config.file };
  const given = Object.entries(told).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  return process.execve(
    process.execPath,
    [process.execPath, entry.entry, ...argsOf(entry), "--mcp-stdio"],
    Object.fromEntries(given),
  );
}
