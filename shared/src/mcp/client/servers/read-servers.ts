import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { checkInput } from "../../../core/check-input.ts";
import { AppError } from "../../../core/errors.ts";
import { isProgram, type ServerConfig, serverSchemas, shownCommand } from "./server-config.ts";
import { serverId } from "./tool-name.ts";

const fileSchema = z.looseObject({ mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** Keys in other programs' files that have no effect here. */
const ignored = new Set(["description", "note", "icon", "autoApprove", "alwaysAllow"]);

const keysOfEither = [serverSchemas.program, serverSchemas.remote].flatMap(({ shape }) => Object.keys(shape));

/**
 * An entry by its keys alone: a misspelt `command` is an unknown key before it is a missing one.
 */
const eitherKind = z.strictObject(Object.fromEntries(keysOfEither.map((key) => [key, z.unknown()]))).partial();

/**
 * The servers of an `mcp.json`. `${NAME}` and `${NAME:-fallback}` are replaced from `env`, where an
 * empty variable is a value; paths that start with `./` or `../` are relative to the file's folder.
 * A missing file has no servers, unless it was `named`. Rejects with `config_invalid`, naming file,
 * server and key.
 */
export async function readServers(
  file: string,
  named: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly ServerConfig[]> {
  const exists = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!exists) {
    if (!named) return [];
    throw new AppError("config_invalid", `The file of MCP servers ${file} does not exist.`);
  }
  return parseServers(await Bun.file(file).text(), file, env);
}

/** The same for a text. `file` is its name in messages. */
export function parseServers(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly ServerConfig[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new AppError("config_invalid", `${file} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  const { mcpServers } = checkInput(fileSchema, json, `${file}: {"mcpServers": {NAME: {…}}}`, "config_invalid");
  const servers = Object.entries(mcpServers).map(([name, entry]) => readServer(name, entry, file, env));
  const ids = new Map<string, string>();
  for (const { name } of servers) {
    const other = ids.get(serverId(name));
    if (other !== undefined)
      throw new AppError(
        "config_invalid",
        `${file}: the servers ${JSON.stringify(other)} and ${JSON.stringify(name)} have the same name as far as tool names can tell. Rename one.`,
      );
    ids.set(serverId(name), name);
  }
  return servers;
}

function readServer(
  name: string,
  entry: Record<string, unknown>,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): ServerConfig {
  const where = `${file}: mcpServers.${name}`;
  if (serverId(name) === "" || name.length > 64)
    throw new AppError("config_invalid", `${where}: a name has a letter or digit in it and at most 64 characters.`);
  const own = Object.fromEntries(Object.entries(entry).filter(([key]) => !ignored.has(key)));
  const hasUrl = "url" in own;
  if (hasUrl === "command" in own) {
    checkInput(eitherKind, own, where, "config_invalid");
    throw new AppError("config_invalid", `${where} needs a command or a url, and not both.`);
  }
  const filled = z.record(z.string(), z.unknown()).parse(interpolate(own, where, env));
  const schema = hasUrl ? serverSchemas.remote : serverSchemas.program;
  const server: ServerConfig = {
    name,
    shown: shownCommand(entry),
    ...checkInput(schema, filled, where, "config_invalid"),
  };
  if (!isProgram(server)) return server;
  const { cwd, read, write } = server;
  const placed = (path: string) => (/^\.\.?(?:\/|$)/.test(path) ? resolve(dirname(file), path) : path);
  const program = { ...server, cwd: cwd && placed(cwd), read: read.map(placed), write: write.map(placed) };
  checkPaths(program, where);
  return program;
}

function checkPaths(server: { readonly [key in "read" | "write"]: readonly string[] }, where: string): void {
  for (const key of ["read", "write"] as const)
    for (const path of server[key])
      if (!path.startsWith("/"))
        throw new AppError(
          "config_invalid",
          `${where}.${key}: ${JSON.stringify(path)} is not a path that begins with / or, from the folder of this file, with ./ or ../.`,
        );
}

function interpolate(value: unknown, where: string, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === "string") return fill(value, where, env);
  if (Array.isArray(value)) return value.map((one, index) => interpolate(one, `${where}.${index}`, env));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolate(one, `${where}.${key}`, env)]));
}

function fill(text: string, where: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
    const value = env[name] ?? fallback;
    if (value !== undefined) return value;
    throw new AppError("config_invalid", `${where} names the environment variable ${name}, which is not set.`);
  });
}
