import { closeSync } from "node:fs";
import { libc } from "../kernel/libc.ts";
import { descendants, readProcessTable, sendSignal } from "../kernel/process-table.ts";
import { descriptorChannel } from "../kernel/send-descriptors.ts";
import type { AttributeWork } from "./attribute-worker.ts";
import { unpacked } from "./environment.ts";

/**
 * Started by `superviseCommand` as `supervisor keep|unpack none|self|UID:GID COMMAND…`: runs the
 * command, adopts its orphans, and leaves nothing behind when it ends. Unless `none`, one of its
 * threads answers the command's changes of files, with its own rights or that user's.
 */

const setParentDeathSignal = 1n;
const setChildSubreaper = 36n;
const terminate = 15n;
const killed = 9;
const withoutWaiting = 1;

const { prctl, _exit, waitpid } = libc();

const [, , how, rights = "none", ...argv] = process.argv;
// A launcher passes the command's environment on to where the command is locked in.
const env = how === "unpack" ? unpacked(process.env) : process.env;
prctl(setChildSubreaper, 1n, 0n, 0n, 0n);
prctl(setParentDeathSignal, terminate, 0n, 0n, 0n);

const channel = rights === "none" ? undefined : descriptorChannel();
const child = Bun.spawn(argv, { stdio: ["inherit", "inherit", "inherit", ...(channel ? [channel[1]] : [])], env });
if (channel) answerChanges(channel);
// Our parent may have died before the death signal was set.
if (process.ppid === 1) leave(128 + killed);
process.on("SIGTERM", () => leave(128 + killed));
process.on("SIGINT", () => {});
leave(await child.exited);

/**
 * Kills until nothing is left: what forks during one round is found in the next. Mostly there is no
 * child any more, and so nothing below; a table of all processes takes longer than a short command.
 */
function leave(exitCode: number): never {
  for (let round = 0; round < 10_000 && hasChildren(); round++)
    for (const pid of descendants(readProcessTable(), process.pid)) sendSignal(pid, "SIGKILL");
  // Immediately: Bun's own exit waits for the thread, which waits for calls.
  _exit(exitCode);
  throw new Error("an exit came back");
}

/** Collects the children that have ended; whether others are left. */
function hasChildren(): boolean {
  let ended: number;
  do ended = waitpid(-1, null, withoutWaiting);
  while (ended > 0);
  return ended === 0;
}

/**
 * When the thread ends, its channel is closed, and with it a listener it has not received: later
 * calls then fail as nonexistent instead of waiting.
 */
function answerChanges([own, launchers]: readonly [own: number, launchers: number]): void {
  closeSync(launchers);
  const [uid, gid] = rights.split(":").map(Number);
  const work: AttributeWork = { channel: own, user: gid === undefined ? undefined : { uid: uid ?? gid, gid } };
  const thread = new Worker(new URL("attribute-worker.ts", import.meta.url).href);
  thread.addEventListener("error", ({ message }) =>
    process.stderr.write(`modes of files cannot be changed: ${message}\n`),
  );
  thread.addEventListener("close", () => closeSync(own));
  thread.postMessage(work);
}
