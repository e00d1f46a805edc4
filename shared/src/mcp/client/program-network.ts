import { basename } from "node:path";
import type { ProgramServer } from "./server-config.ts";

const npm = ["registry.npmjs.org"];
const pypi = ["pypi.org", "files.pythonhosted.org"];

/** Programs that fetch what they then start, and where from. */
const fetchers: ReadonlyMap<string, readonly string[]> = new Map([
  ["npx", npm],
  ["bunx", npm],
  ["uvx", pypi],
]);

/** The hosts a program may reach: those its entry names, and where it names none, those a program needs that fetches itself before it starts. */
export function networkOf({ command, network }: Pick<ProgramServer, "command" | "network">): readonly string[] {
  return network ?? fetchers.get(basename(command)) ?? [];
}
