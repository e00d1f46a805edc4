import { closeSync, openSync, statSync } from "node:fs";
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
  const opened = rules.flatMap(openRule);
  leaveTerminal();
  joinNewSessionKeyring();
  restrictFiles(landlockAbi(), opened);
  restrictCalls(landlockFilter());
  for (const { descriptor } of opened) closeSync(descriptor);
  runProgram(argv, how === "unpack" ? unpacked(process.env) : process.env);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(cannotStart);
}

/** A path that this machine does not have needs no rule. */
function openRule({ path, access }: LandlockRule): OpenedRule[] {
  try {
    return [{ descriptor: openSync(path, openPath), access, isFolder: statSync(path).isDirectory() }];
  } catch {
    return [];
  }
}
