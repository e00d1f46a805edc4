import { AppError } from "../../core/errors.ts";
import type { MountedServer, ServerHealth } from "./mounted-server.ts";
import { type Entries, editServers } from "./servers/edit-servers.ts";
import type { ServerListOptions } from "./servers/server-list.ts";

/**
 * A server that was added: whether an entry of its name was there before, and how it does. `off` is
 * one whose entry disables it.
 */
export type AddedServer = { readonly name: string; readonly replaced: boolean; readonly health: ServerHealth | "off" };

/** Changes of `mcp.json` while its servers are in use. */
export interface ServerChanges {
  /**
   * Writes entries, each in place of one of its name, and connects to their servers. Resolves with
   * how each does, soon: a server that does not answer is still connecting then. Rejects with
   * `config_invalid`, and nothing is written.
   */
  add(entries: Entries, signal: AbortSignal): Promise<readonly AddedServer[]>;
  /** Takes an entry out, and ends its server. Rejects with `not_found`. */
  remove(name: string): Promise<void>;
}

const soonMs = 5_000;

/**
 * The changes of one file. `find` looks up a server by the file as it is then; those that are gone
 * end.
 */
export function serverChanges(
  { file, env }: ServerListOptions,
  find: (name: string) => Promise<MountedServer | undefined>,
): ServerChanges {
  return {
    async add(entries, signal) {
      let before: Entries = {};
      await editServers(file, env, (servers) => {
        before = servers;
        return { ...servers, ...entries };
      });
      const added = Object.keys(entries).map(async (name) => {
        const one = await find(name);
        await one?.tools(signal, soonMs);
        return { name, replaced: Object.hasOwn(before, name), health: one?.health() ?? ("off" as const) };
      });
      return Promise.all(added);
    },
    async remove(name) {
      await editServers(file, env, ({ [name]: entry, ...rest }) => {
        if (entry === undefined) throw new AppError("not_found", `There is no MCP server ${JSON.stringify(name)}.`);
        return rest;
      });
      await find(name);
    },
  };
}
