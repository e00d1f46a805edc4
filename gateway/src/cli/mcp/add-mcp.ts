import { Argument, type Command, Option } from "commander";
import type { CliContext } from "../../session/context.ts";
import { approveServer, listServers, loginServer, type ServeOptions, serveMcp, testServer } from "./mcp-command.ts";
import { addServer, removeServer } from "./mcp-file.ts";

/**
 * Adds `mcp` and its commands to the command line. `shared` makes the options all commands have.
 */
export function addMcp(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  shared: { config(): Option; json(): Option },
): void {
  const mcp = program.command("mcp").description("the MCP servers whose tools agents use");
  const leaf = (name: string, description: string, isDefault = false) =>
    mcp.command(name, { isDefault }).description(description).addOption(shared.config());
  const server = () => new Argument("<server>", "its name in mcp.json");
  leaf("list", "the servers and their commands", true)
    .addOption(shared.json())
    .action(async (options) => done(await listServers(options, context)));
  leaf("serve", "be an MCP server on standard input and output, with an agent's tools and the agent as one")
    .option("--agent <name>", "which agent of this system; the first of them when left out")
    .action((options: ServeOptions) => serveMcp(options, context));
  leaf("add", "add a server: mcp add NAME -- COMMAND ARGUMENTS…, or mcp add NAME --url URL")
    .addArgument(server())
    .argument("[command...]", "what starts it, behind --")
    .option("--url <url>", "where it is reached, instead of a command")
    .addOption(new Option("--type <type>", "how it is spoken to at the URL").choices(["http", "sse"]))
    .option("--header <name: value>", "sent with every request; may be given several times", collect)
    .option("--env <name=value>", "a variable the program is given; may be given several times", collect)
    .option("--cwd <folder>", "where the program is started")
    .option("--read <path>", "what it may read; may be given several times", collect)
    .option("--write <path>", "what it may also write; may be given several times", collect)
    .option("--network <host>", "what it may reach; may be given several times", collect)
    .addOption(new Option("--trust <trust>", "start it without the sandbox").choices(["sandboxed", "unconfined"]))
    .action(async (name: string, command: string[], options) => done(await addServer(name, command, options, context)));
  leaf("remove", "remove a server")
    .addArgument(server())
    .action(async (name: string, options) => done(await removeServer(name, options, context)));
  leaf("test", "connect to a server and show its tools")
    .addArgument(server())
    .addOption(shared.json())
    .action(async (name: string, options) => done(await testServer(name, options, context)));
  leaf("approve", "approve a server's tools as they are now")
    .addArgument(server())
    .action(async (name: string, options) => done(await approveServer(name, options, context)));
  leaf("login", "sign in to a server that wants it")
    .addArgument(server())
    .action(async (name: string, options) => done(await loginServer(name, options, context)));
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
