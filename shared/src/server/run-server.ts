import { mkdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Logger } from "pino";
import pino from "pino";
import { type Config, loadConfig } from "../config/config.ts";
import { AppError, errnoOf } from "../core/errors.ts";
import { escapeUnseen } from "../core/text/sanitize.ts";
import { currentTrace, readTrace } from "../core/trace.ts";
import { logWriter } from "./log-writer.ts";

/** How a server is started, apart from its configuration. */
export type ServerOptions = {
  /** Its name in this system. */
  readonly name: string;
  /** `--mcp-stdio`, for `manyhands mcp serve`: MCP over standard input and output. */
  readonly mcpStdio: boolean;
};

/**
 * Starts a server as a process: reads the configuration, makes the home, opens the log, calls
 * `start` and ends what killed servers left. A wrong configuration ends the process with exit code
 * 2, any other failure to start with 1; both say why.
 */
export async function runServer(
  ownName: string,
  start: (config: Config, logger: pino.Logger, options: ServerOptions) => Promise<void>,
  { isAgent = false }: { readonly isAgent?: boolean } = {},
): Promise<void> {
  let name = ownName;
  try {
    if (import.meta.dir.includes("$bunfs"))
      throw new AppError("unsupported", "It cannot be compiled: the processes it starts need Bun and the sources.");
    const { config: file, mcpStdio, ...told } = serverOptions();
    name = told.name ?? ownName;
    const agent = isAgent ? name : undefined;
    const config = await loadConfig({ cwd: process.cwd(), file, env: process.env, agent });
    await makeHome(config.home);
    const logger = openLog(name, logWriter(2));
    await start(config, logger, { name, mcpStdio });
    const { sweepAbandoned } = await import("../machine/confinement/sweep-abandoned.ts");
    sweepAbandoned(config.home).catch((err) => logger.warn({ err }, "What killed servers left could not be removed."));
    // From here on code that runs often is compiled; that of the start was not worth it.
    Bun.unsafe.setJITPolicy(1);
  } catch (error) {
    endStart(name, error);
  }
}

/** Ends a process that cannot start and says why: with 2 for wrong input, else with 1. */
export function endStart(name: string, error: unknown): never {
  // Refusals by the system (a port in use, a foreign address) state their own cause.
  const expected = error instanceof AppError || errnoOf(error) !== undefined;
  process.stderr.write(`${name}: ${expected ? (error as Error).message : Bun.inspect(error)}\n`);
  process.exit(error instanceof AppError && error.code === "config_invalid" ? 2 : 1);
}

function serverOptions() {
  try {
    const { "mcp-stdio": mcpStdio = false, ...rest } = parseArgs({
      options: { config: { type: "string" }, name: { type: "string" }, "mcp-stdio": { type: "boolean" } },
    }).values;
    return { ...rest, mcpStdio };
  } catch (error) {
    throw new AppError("config_invalid", `${(error as Error).message} The one option is --config FILE.`);
  }
}

/** All the server's files are below its home, so a home that cannot be made is reported first. */
async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true });
  } catch (error) {
    const cause = errnoOf(error) ?? String(error);
    throw new AppError("config_invalid", `MANYHANDS_HOME cannot be ${home}: the folder cannot be created (${cause}).`);
  }
}

/**
 * The address of a server at `url` from outside: its own public address; or that of the settings,
 * if it listens on their port; else `url`, since a proxy for the port of the settings does not lead
 * to another.
 */
export function publicUrlOf(
  url: URL,
  told: string | undefined,
  settings: { readonly port: number; readonly publicUrl: string | undefined },
): string {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const configured = port === settings.port ? settings.publicUrl : undefined;
  return told ?? configured ?? reachable(url);
}

/** An address at which a listener on all interfaces is reached from here. */
export function reachable(url: URL): string {
  return url.origin.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]");
}

/**
 * Tells whoever started this server that it is ready. A full disk takes no word of it; the server's
 * health says the same.
 */
export function sayReady(url: URL): void {
  process.stdout.on("error", () => undefined);
  process.stdout.write(`ready ${url.href}\n`);
}

/**
 * A log with one JSON object per line: text from outside cannot start a line or control a terminal.
 */
export function openLog(name: string, write: (line: string) => void): Logger {
  return pino(
    { name, redact: ["apiKey", "token", "headers.authorization"], mixin: traceFields },
    { write: (line: string) => write(escapeUnseen(line)) },
  );
}

/** The trace that a line belongs to, under the names of OpenTelemetry. */
function traceFields() {
  const trace = currentTrace();
  if (trace === undefined) return {};
  const { traceId, parentId } = readTrace(trace);
  return { trace_id: traceId, span_id: parentId };
}
