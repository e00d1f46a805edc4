import { closeSync, fstatSync, openSync, readlinkSync } from "node:fs";
import { unpacked } from "./carried-environment.ts";
import {
  joinNewSessionKeyring,
  landlockAbi,
  leaveTerminal,
  type OpenedRule,
  restrictCalls,
  restrictFiles,
  runProgram,
} from "./kernel.ts";
import type { LandlockRule } from "./landlock-rules.ts";
import { landlockFilter } from "./syscall-filter.ts";

/** Started by tier `landlock` as `launcher RULES keep|unpack COMMAND…`: locks this process in for good, then becomes the command. */

const openPath = 0o10000000;

const cannotStart = 126;

const [, , rulesText = "[]", how, ...argv] = process.argv;
const rules: readonly LandlockRule[] = JSON.parse(rulesText);
try {
  const held = rules.flatMap(openRule);
  leaveTerminal();
  joinNewSessionKeyring();
  restrictFiles(landlockAbi(), held);
  restrictCalls(landlockFilter());
  for (const { descriptor } of held) closeSync(descriptor);
  runProgram(argv, how === "unpack" ? unpacked(process.env) : process.env);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(cannotStart);
}

/** A path that this machine does not have needs no rule. */
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
  } catch {
    return undefined;
  }
}
