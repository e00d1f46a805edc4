import { AppError } from "../../core/errors.ts";
import type { MountedServer, ServerHealth } from "./mounted-server.ts";
import { type Entries, editServers } from "./servers/edit-servers.ts";
import type { ServerListOptions } from "./servers/server-list.ts";

/**
 * A server that was added: whether it replaced an entry of its name, and its health. `off` means
 * its entry disables it.
 */
export type AddedServer = { readonly name: string; readonly replaced: boolean; readonly health: ServerHealth | "off" };

/** Changes to `mcp.json` while its servers are in use. */
export interface ServerChanges {
  /**
   * Writes entries, replacing those of the same name, and connects to their servers. Resolves with
   * the health of each once they answered; a server that does not answer for as long as a task
   * would wait for it is still connecting then. Rejects with `config_invalid` and writes nothing.
   */
  add(entries: Entries, signal: AbortSignal): Promise<readonly AddedServer[]>;
  /** Removes an entry and stops its server. Rejects with `not_found`. */
  remove(name: string): Promise<void>;
}

/**
 * The changes to one file. `find` looks up a server in the file's current content and closes
 * servers that are no longer in it.
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
        await one?.toolsNow(signal);
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
