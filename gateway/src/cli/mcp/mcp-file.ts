import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import { editServers } from "manyhands/internal/mcp/client/servers/edit-servers";
import type { CliContext } from "../../session/context.ts";
import { everyVariable } from "../../settings/with-mcp.ts";
import { exitCodes } from "../../terminal/exit-code.ts";

/** Options of `mcp add`. */
type AddOptions = {
  readonly config?: string;
  readonly url?: string;
  readonly type?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly network?: readonly string[];
  readonly trust?: string;
};

/**
 * Adds or replaces an entry in `mcp.json`, validated as agents validate it. The rest of the file is
 * unchanged.
 */
export async function addServer(
  name: string,
  command: readonly string[],
  options: AddOptions,
  context: CliContext,
): Promise<number> {
  const { mcp } = await context.configure(options.config);
  const [program, ...args] = command;
  if ((program === undefined) === (options.url === undefined))
    throw new AppError("config_invalid", "Give a command after --, or --url URL.");
  refuseOthers(program === undefined ? forCommands : forUrls, options, program === undefined ? "a URL" : "a command");
  const common = { ...(options.type !== undefined && { type: options.type }) };
  const entry =
    program === undefined
      ? { ...common, url: options.url, ...pairs("headers", options.header, ":") }
      : {
          command: program,
          ...(args.length > 0 && { args }),
          ...pairs("env", options.env, "="),
          ...(options.cwd !== undefined && { cwd: options.cwd }),
          ...(options.read && { read: options.read }),
          ...(options.write && { write: options.write }),
          ...(options.network && { network: options.network }),
          ...(options.trust !== undefined && { trust: options.trust }),
        };
  await editServers(mcp.file, everyVariable(context.env), (servers) => ({ ...servers, [name]: entry }));
  context.terminal.say(`Added ${name} to ${mcp.file}. Check it with: ${ownCommand} mcp test ${name}`);
  return exitCodes.ok;
}

const forCommands = ["env", "cwd", "read", "write", "network", "trust"] as const;
const forUrls = ["header"] as const;

/** An option that would have no effect is a mistake: the person believes that it has one. */
function refuseOthers(others: readonly (keyof AddOptions)[], options: AddOptions, way: string): void {
  const given = others.filter((name) => options[name] !== undefined).map((name) => `--${name}`);
  if (given.length === 0) return;
  throw new AppError("config_invalid", `${given.join(" and ")} cannot be given for a server reached by ${way}.`);
}

/** Removes an entry from `mcp.json`. */
export async function removeServer(
  name: string,
  options: { readonly config?: string },
  context: CliContext,
): Promise<number> {
  const { mcp } = await context.configure(options.config);
  await editServers(mcp.file, everyVariable(context.env), ({ [name]: entry, ...rest }) => {
    if (entry === undefined)
      throw new AppError("not_found", `There is no server ${JSON.stringify(name)} in ${mcp.file}.`);
    return rest;
  });
  context.terminal.say(`Removed ${name} from ${mcp.file}.`);
  return exitCodes.ok;
}

function pairs(key: string, texts: readonly string[] | undefined, sign: string): object {
  if (texts === undefined) return {};
  const entries = texts.map((text) => {
    const at = text.indexOf(sign);
    if (at <= 0) throw new AppError("config_invalid", `${JSON.stringify(text)} must be NAME${sign}VALUE.`);
    return [text.slice(0, at), text.slice(at + 1).trim()];
  });
  return { [key]: Object.fromEntries(entries) };
}
