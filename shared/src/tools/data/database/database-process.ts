import { chmodSync, chownSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { watchMemory } from "../../../machine/process/memory-watch.ts";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { makeOwnedFolderSync } from "../../../machine/process/owned-folder.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import {
  changedByStatement,
  type DatabaseReply,
  type DatabaseRequest,
  databaseReply,
  outOfMemory,
} from "./database-protocol.ts";

/** A running database, for one request at a time. */
export interface DatabaseProcess {
  /** The one folder that it writes. No tool sees it. */
  readonly staging: string;
  /**
   * Rejects with `unavailable` when the process ended before it replied, and with `timeout` when it
   * had to be killed.
   */
  ask(request: DatabaseRequest): Promise<DatabaseReply>;
  alive(): boolean;
  /** Kills it, waits for its end and removes its folder. */
  end(): Promise<void>;
}

/**
 * How much longer than the statement's own limit a reply may take: an interrupt is only checked
 * between chunks of work.
 */
const graceMs = 5_000;
const maxMemory = 2 * 2 ** 30;

/**
 * Starts a database that reads the files below `folder` and writes into a folder of its own in
 * `beside`. It gets none of our environment variables. Its process is killed once it uses more than
 * `maxMemoryBytes`.
 */
export function startDatabase(
  folder: string,
  {
    beside = tmpdir(),
    maxMemoryBytes = maxMemory,
  }: { readonly beside?: string; readonly maxMemoryBytes?: number } = {},
): DatabaseProcess {
  const staging = makeStaging(folder, beside);
  const argv = ownScriptArgv(resolve(import.meta.dir, "database-worker.ts"), { folder: staging, reads: folder });
  const child = Bun.spawn(argv, {
    cwd: "/",
    env: { LANG: "C.UTF-8", TZ: "UTC" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  // The process checks its memory itself, but not while it decompresses a file.
  let greedy = false;
  const unwatch = watchMemory(child.pid, maxMemoryBytes, () => {
    greedy = true;
    child.kill("SIGKILL");
  });
  void child.exited.then(unwatch);
  // A stopping server does not wait for the process, which ends with its input.
  child.unref();
  const lines = linesOf(child.stdout);
  return {
    staging,
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      child.stdin.flush();
      let [late, strange] = [false, false];
      const timer = setTimeout(() => {
        late = true;
        child.kill("SIGKILL");
      }, request.timeoutMs + graceMs);
      try {
        const { value, done } = await lines.next();
        const reply = done === true ? undefined : replyIn(value);
        if (reply !== undefined) return reply;
        // The process may be about to send more such output, which cannot be distinguished from a
        // reply.
        if (done !== true) {
          strange = true;
          child.kill("SIGKILL");
        }
      } finally {
        clearTimeout(timer);
      }
      const exitCode = await child.exited;
      if (late) return { ok: false, message: "stopped", timeout: true };
      if (exitCode === changedByStatement || strange)
        throw new AppError(
          "rejected",
          "The statement changed how the database works, so a new one takes its place; its tables are gone. Statements read and change data.",
        );
      throw new AppError(
        "unavailable",
        greedy || exitCode === outOfMemory
          ? `The database was stopped: it needed more than its ${bytesInWords(maxMemoryBytes)} of memory. Its tables are gone; ask for less at a time.`
          : `The database ended with exit code ${exitCode}; its tables are gone. The next query starts a new one.`,
      );
    },
    alive: () => child.exitCode === null && child.signalCode === null,
    async end() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(staging, { recursive: true, force: true });
    },
  };
}

/** A folder for the process, which has the rights of the owner of `folder`. */
function makeStaging(folder: string, beside: string): string {
  // Short, because the database cuts the lines that it quotes.
  const staging = makeOwnedFolderSync(beside, "db");
  chmodSync(staging, 0o700);
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() === 0) chownSync(staging, uid, gid);
  return staging;
}

/** The reply in a line; undefined for any other line. */
function replyIn(line: string): DatabaseReply | undefined {
  try {
    return databaseReply.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  const held: string[] = [];
  for await (const bytes of stream) {
    const pieces = decoder.decode(bytes, { stream: true }).split("\n");
    for (const piece of pieces.slice(0, -1)) {
      yield [...held.splice(0), piece].join("");
    }
    held.push(pieces.at(-1) ?? "");
  }
  return undefined;
}
