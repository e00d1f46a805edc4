import { closeSync, fstatSync, openSync, readlinkSync, writeSync } from "node:fs";
import { isShortage } from "../../core/errors.ts";
import { type LandlockRule, landlockAbi, type OpenedRule, restrictFiles } from "../kernel/landlock.ts";
import { restrictCalls, restrictCallsAsking } from "../kernel/seccomp.ts";
import { sendDescriptors } from "../kernel/send-descriptors.ts";
import { landlockFilter } from "../kernel/syscall-filter.ts";
import { joinNewSessionKeyring, leaveTerminal, runProgram } from "../kernel/this-process.ts";
import { unpacked } from "./environment.ts";

/**
 * Started as `launcher RULES keep|unpack refused|asked COMMAND…`: locks this process in for good,
 * then becomes the command. With `asked`, changes of files' mode, owner and times are answered at
 * the other end of descriptor 3; with `refused`, and where the kernel does not support asking, they
 * are refused.
 */

const openPath = 0o10000000;

const standardError = 2;
const answering = 3;
const cannotStart = 126;

const [, , rulesText = "[]", how, changes, ...argv] = process.argv;
const rules: readonly LandlockRule[] = JSON.parse(rulesText);
try {
  const held = rules.flatMap(openRule);
  leaveTerminal();
  joinNewSessionKeyring();
  restrictFiles(landlockAbi(), held);
  if (changes !== "asked" || !restrictedAsking(held)) restrictCalls(landlockFilter());
  for (const { descriptor } of held) closeSync(descriptor);
  runProgram(argv, how === "unpack" ? unpacked(process.env) : process.env);
} catch (error) {
  // The process's own stream needs more files, which may be what there are too few of.
  writeSync(standardError, `${error instanceof Error ? error.message : error}\n`);
  process.exit(cannotStart);
}

/**
 * Sends away the listener and the writable folders; the command keeps neither the listener nor the
 * channel.
 */
function restrictedAsking(held: readonly OpenedRule[]): boolean {
  const listener = restrictCallsAsking(landlockFilter(process.arch, "asked"));
  if (listener !== undefined) {
    const writable = held.filter(({ access }) => access === "write");
    sendDescriptors(answering, [listener, ...writable.map(({ descriptor }) => descriptor)]);
    closeSync(listener);
  }
  closeSync(answering);
  return listener !== undefined;
}

/** A path that does not exist on this machine needs no rule. */
function openRule({ path, access, exact }: LandlockRule): OpenedRule[] {
  const descriptor = opened(path);
  if (descriptor === undefined) return [];
  if (exact && readlinkSync(`/proc/self/fd/${descriptor}`) !== path)
    throw new Error(`the path ${path} was changed while it was opened`);
  return [{ descriptor, access, isFolder: fstatSync(descriptor).isDirectory() }];
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, openPath);
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}
