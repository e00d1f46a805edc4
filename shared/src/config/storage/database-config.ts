import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DatabaseServer } from "../../tools/data/servers/database-server.ts";
import type { Sections } from "../sections/sections.ts";

/** The databases of `[databases.NAME]`; the path of a file starts at `cwd`. */
export function databaseConfig(sections: Sections["databases"], cwd: string): Readonly<Record<string, DatabaseServer>> {
  return Object.fromEntries(
    Object.entries(sections).map(([name, { url, password, description, read_only, timeout, rows }]) => [
      name,
      { url: whole(url, password, cwd), description, readOnly: read_only, timeoutMs: timeout * 1000, rows },
    ]),
  );
}

function whole(text: string, password: string | undefined, cwd: string): string {
  const url = new URL(text);
  if (url.protocol === "sqlite:")
    return `sqlite:${pathToFileURL(resolve(cwd, decodeURIComponent(url.pathname))).pathname}`;
  if (password !== undefined) url.password = password;
  return url.href;
}
