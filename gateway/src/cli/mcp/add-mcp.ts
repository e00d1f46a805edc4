import { Argument, type Command, Option } from "commander";
import type { CliContext } from "../../session/context.ts";
import type { McpServeOptions } from "./mcp-command.ts";

// Loaded by the command that is called: none needs what all need.
const commands = () => import("./mcp-command.ts");
const file = () => import("./mcp-file.ts");

/** Adds `mcp` and its commands to the command line. `shared` makes the options that all share. */
export function addMcp(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  shared: { config(): Option; json(): Option; repeatable(flags: string, description: string): Option },
): void {
  const mcp = program.command("mcp").description("the MCP servers whose tools agents use");
  const leaf = (name: string, description: string, isDefault = false) =>
    mcp.command(name, { isDefault }).description(description).addOption(shared.config());
  const server = () => new Argument("<server>", "its name in mcp.json");
  leaf("list", "list the servers and how each is started or reached", true)
    .addOption(shared.json())
    .action(async (options) => done(await (await commands()).listServers(options, context)));
  leaf("serve", "serve an agent and its tools over MCP on standard input and output")
    .option("--agent <name>", "an agent of this system (default: the first)")
    .action(async (options: McpServeOptions) => (await commands()).serveMcp(options, context));
  leaf("add", "add a server: mcp add NAME -- COMMAND ARGUMENTS…, or mcp add NAME --url URL")
    .addArgument(server())
    .argument("[command...]", "the command that starts it, after --")
    .option("--url <url>", "its URL, instead of a command")
    .addOption(new Option("--type <type>", "the transport at the URL").choices(["http", "sse"]))
    .addOption(shared.repeatable("--header <name: value>", "a header for every request; repeatable"))
    .addOption(shared.repeatable("--env <name=value>", "a variable for the program; repeatable"))
    .option("--cwd <folder>", "the program's working directory")
    .addOption(shared.repeatable("--read <path>", "a path it may read; repeatable"))
    .addOption(shared.repeatable("--write <path>", "a path it may read and write; repeatable"))
    .addOption(shared.repeatable("--network <host>", "a host it may reach; repeatable"))
    .addOption(new Option("--trust <trust>", "whether it runs in the sandbox").choices(["sandboxed", "unconfined"]))
    .action(async (name: string, command: string[], options) =>
      done(await (await file()).addServer(name, command, options, context)),
    );
  leaf("remove", "remove a server")
    .addArgument(server())
    .action(async (name: string, options) => done(await (await file()).removeServer(name, options, context)));
  leaf("test", "connect to a server and show its tools")
    .addArgument(server())
    .addOption(shared.json())
    .action(async (name: string, options) => done(await (await commands()).testServer(name, options, context)));
  leaf("approve", "approve a server's current tools")
    .addArgument(server())
    .action(async (name: string, options) => done(await (await commands()).approveServer(name, options, context)));
  leaf("login", "sign in to a server")
    .addArgument(server())
    .option("--for <name>", "the principal whose tasks use it (default: you, without a name)")
    .action(async (name: string, options) => done(await (await commands()).loginServer(name, options, context)));
}
