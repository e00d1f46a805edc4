import { dlopen, FFIType } from "bun:ffi";
import { unpacked } from "./carried-environment.ts";
import { descendants, readProcessTable, sendSignal } from "./process-table.ts";

/** Started by `superviseCommand` as `supervisor keep|unpack COMMAND…`: runs the command it is given, adopts its orphans, and leaves nothing behind when it ends. */

const setParentDeathSignal = 1;
const setChildSubreaper = 36;
const terminate = 15;
const killed = 9;
const withoutWaiting = 1;

const libc = dlopen("libc.so.6", {
  prctl: { args: [FFIType.int, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.int },
  waitpid: { args: [FFIType.int, FFIType.ptr, FFIType.int], returns: FFIType.int },
});

const [, , how, ...argv] = process.argv;
// A launcher carries the command's environment on, to where the command is locked in.
const env = how === "unpack" ? unpacked(process.env) : process.env;
libc.symbols.prctl(setChildSubreaper, 1, 0, 0, 0);
libc.symbols.prctl(setParentDeathSignal, terminate, 0, 0, 0);

const child = Bun.spawn(argv, { stdin: "inherit", stdout: "inherit", stderr: "inherit", env });
// Our parent may have died before it could be noticed.
if (process.ppid === 1) leave(128 + killed);
process.on("SIGTERM", () => leave(128 + killed));
process.on("SIGINT", () => {});
leave(await child.exited);

/** Kills until nothing is left: what forks during one round is found in the next. */
function leave(exitCode: number): never {
  for (let round = 0; round < 10_000; round++) {
    const left = descendants(readProcessTable(), process.pid);
    if (left.length === 0) break;
    for (const pid of left) sendSignal(pid, "SIGKILL");
  }
  while (libc.symbols.waitpid(-1, null, withoutWaiting) > 0);
  process.exit(exitCode);
}
