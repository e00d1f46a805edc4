import { join } from "node:path";
import { createSandbox } from "@manyhands/shared/sandbox/create-sandbox";
import { type OpenedMcp, openMcp } from "@manyhands/shared/server/open-mcp";
import { safeLine } from "../terminal/safe-text.ts";
import type { CliContext } from "./context.ts";
import { exitCodes } from "./exit-code.ts";

type Options = { readonly config?: string; readonly json?: boolean };

const patienceMs = 60_000;

/** Lists the servers of `mcp.json` and the exact commands; none is started. */
export async function listServers(options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp) => {
    const servers = await mcp.servers();
    const { terminal } = context;
    if (options.json) {
      const rows = servers.map(({ name, shown, start }) => ({ name, command: shown, start }));
      terminal.out(`${JSON.stringify(rows, undefined, 2)}\n`);
      return exitCodes.ok;
    }
    const width = Math.max(0, ...servers.map(({ name }) => name.length));
    for (const { name, shown } of servers) terminal.out(`${safeLine(name, 64).padEnd(width)}  ${whole(shown)}\n`);
    if (servers.length === 0)
      terminal.say("There are no MCP servers. Add one: bun manyhands mcp add NAME -- COMMAND …");
    return exitCodes.ok;
  });
}

/** Connects to a server as an agent does and shows its tools, and which of them are not as they were approved. Fails where it cannot be used. */
export async function testServer(name: string, options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp, signal) => {
    const server = await mcp.open(name);
    const { definitions, changed } = await server.inspect(signal);
    const { command, version } = server.health();
    const mounted = await server.tools(signal);
    const { terminal } = context;
    if (options.json) {
      const tools = mounted.map((tool) => ({ name: tool.name, description: tool.description }));
      terminal.out(`${JSON.stringify({ name, command, version, tools, disabled: [...changed] }, undefined, 2)}\n`);
    } else {
      terminal.out(`${whole(command)}\n`);
      const ours = mounted.filter(({ name }) => /__mcp_(?:read_resource|get_prompt)$/.test(name)).length;
      const more = ours === 0 ? "" : `, and ${ours} for its resources and prompts`;
      terminal.out(
        `Works, and speaks ${version}. ${mounted.length - ours} tools of ${definitions.length} defined${more}:\n`,
      );
      for (const tool of mounted) terminal.out(`  ${line(`${tool.name}: ${tool.description}`, context)}\n`);
      for (const tool of changed)
        terminal.out(`  ${line(`disabled, as it changed since it was approved: ${tool}`, context)}\n`);
    }
    if (changed.size > 0) terminal.say(`Look at what changed, then: bun manyhands mcp approve ${name}`);
    return changed.size > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

/** Approves what a server defines now. */
export async function approveServer(name: string, options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp, signal) => {
    const tools = await mcp.approve(name, signal);
    context.terminal.say(
      `Approved ${tools} tools of ${name} as they are now. Running agents take them from their next step on.`,
    );
    return exitCodes.ok;
  });
}

/** Signs in to a server: prints the address to open, and waits for the browser to come back. */
export async function loginServer(name: string, options: Options, context: CliContext): Promise<number> {
  return withServers(options, context, async (mcp) => {
    const show = (address: string) =>
      context.terminal.say(`Open this address in your browser to sign in:\n\n${address}\n`);
    await mcp.login(name, show, new AbortController().signal);
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
  const { tier, allowDomains } = config.sandbox;
  const folder = join(config.home, "mcp");
  const sandbox = await createSandbox({ mode: tier, folder, network: { allow: allowDomains } });
  try {
    const logger = { info: () => undefined, warn: (_: unknown, message?: string) => terminal.say(message ?? "") };
    const mcp = await openMcp(config, { sandbox, logger, env });
    try {
      return await work(mcp, AbortSignal.timeout(patienceMs));
    } finally {
      await mcp.close();
    }
  } finally {
    await sandbox.close();
  }
}

/** A command is never cut: who reads it decides by it. */
function whole(command: string): string {
  return safeLine(command, Number.POSITIVE_INFINITY);
}

function line(text: string, { terminal }: CliContext): string {
  return safeLine(text, Math.max(80, terminal.style.columns));
}
