import { dirname, resolve } from "node:path";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { AppError } from "../../../core/errors.ts";
import { jsonOf } from "../../../core/json.ts";
import { watchMemory } from "../../../machine/process/memory-watch.ts";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { type DatabaseServer, databaseKinds } from "./database-server.ts";
import { type ServerAnswer, type ServerRequest, serverReply } from "./server-protocol.ts";

/** The databases that the settings name. No model, sandbox or message ever sees their addresses. */
export interface DatabaseServers {
  /** Each with its kind and what it holds. */
  readonly listed: readonly { readonly name: string; readonly about: string; readonly readOnly: boolean }[];
  /**
   * Asks one with one statement. It reads only, unless `write` says otherwise and the settings
   * allow it. Rejects with `not_found`, with `forbidden` for a change where there may be none, with
   * `rejected` and the server's own message, with `timeout`, and with `unavailable` when the answer
   * needs too much memory.
   */
  query(
    name: string,
    sql: string,
    options: { readonly write: boolean; readonly signal: AbortSignal; readonly maxCharacters: number },
  ): Promise<ServerAnswer>;
}

/** How much longer than its statement's limit a process may take, which a server ends by itself. */
const graceMs = { server: 15_000, file: 1_000 };
const maxMemoryBytes = 512 * 2 ** 20;
/** At once for each database; further ones wait. */
const lanes = 4;

/** Opens nothing until it is asked; each statement has a process of its own. */
export function createDatabaseServers(servers: Readonly<Record<string, DatabaseServer>>): DatabaseServers {
  const inTurn = createKeyedQueue();
  let asked = 0;
  return {
    listed: Object.entries(servers).map(([name, { url, description, readOnly }]) => {
      const kind = databaseKinds[new URL(url).protocol] ?? "";
      return { name, about: description === undefined ? kind : `${kind}: ${description}`, readOnly };
    }),
    query(name, sql, { write, signal, maxCharacters }) {
      const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
      if (server === undefined) throw new AppError("not_found", `There is no database ${JSON.stringify(name)}.`);
      if (write && server.readOnly)
        throw new AppError(
          "forbidden",
          `The database ${name} may only be read; databases.${name}.read_only = false allows changes.`,
        );
      const { url, timeoutMs, rows } = server;
      const lane = `${name}/${asked++ % lanes}`;
      return inTurn(lane, () => ask({ url, sql, write, timeoutMs, rows, maxCharacters }, name, signal));
    },
  };
}

async function ask(request: ServerRequest, name: string, signal: AbortSignal): Promise<ServerAnswer> {
  signal.throwIfAborted();
  const child = Bun.spawn(argvOf(request.url), {
    cwd: "/",
    env: { LANG: "C.UTF-8", TZ: "UTC" },
    stdin: new Blob([JSON.stringify(request)]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: request.timeoutMs + graceMs[request.url.startsWith("sqlite:") ? "file" : "server"],
    killSignal: "SIGKILL",
  });
  let greedy = false;
  const unwatch = watchMemory(child.pid, maxMemoryBytes, () => {
    greedy = true;
    child.kill("SIGKILL");
  });
  const abort = () => child.kill("SIGKILL");
  signal.addEventListener("abort", abort);
  try {
    const said = await new Response(child.stdout).text();
    await child.exited;
    signal.throwIfAborted();
    if (greedy)
      throw new AppError("unavailable", `The answer of ${name} needs more than 512 MB; ask for fewer rows or columns.`);
    const reply = serverReply.safeParse(jsonOf(said)).data;
    if (reply === undefined)
      throw new AppError("timeout", `${name} was stopped at its limit of ${request.timeoutMs / 1000} s.`);
    if (reply.ok) return reply;
    throw new AppError("rejected", withoutSecrets(reply.message, request.url));
  } finally {
    signal.removeEventListener("abort", abort);
    unwatch();
  }
}

/** A file is asked without network and with its folder only; a server needs the network. */
function argvOf(url: string): string[] {
  const worker = resolve(import.meta.dir, "server-worker.ts");
  if (!url.startsWith("sqlite:")) return ownScriptArgv(worker, { network: true });
  return ownScriptArgv(worker, { folder: dirname(decodeURIComponent(new URL(url).pathname)) });
}

/** A server's message without the password, in case it repeats the address. */
function withoutSecrets(message: string, url: string): string {
  const { password } = new URL(url);
  if (password === "") return message;
  return message.replaceAll(password, "(secret)").replaceAll(decodeURIComponent(password), "(secret)");
}
