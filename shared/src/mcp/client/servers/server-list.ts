import { stat } from "node:fs/promises";
import { readServers } from "./read-servers.ts";
import type { ServerConfig } from "./server-config.ts";

/** The servers of a file that may change while it is in use. */
export interface ServerList {
  /** The enabled servers in the file's current content, or in its last valid one. */
  now(): Promise<readonly ServerConfig[]>;
  /** The current error in the file. */
  problem(): string | undefined;
}

/** Which file lists the servers. */
export type ServerListOptions = {
  readonly file: string;
  /** Whether the file was named explicitly and therefore must exist at the start. */
  readonly named: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Reads the file once; rejects with `config_invalid` if it is invalid. */
export async function openServerList({ file, named, env }: ServerListOptions): Promise<ServerList> {
  let stamp = await stampOf(file);
  let servers = enabled(await readServers(file, named, env));
  let problem: string | undefined;
  const look = async () => {
    const seen = await stampOf(file);
    if (seen === stamp) return servers;
    try {
      servers = enabled(await readServers(file, false, env));
      problem = undefined;
    } catch (error) {
      problem = (error as Error).message;
    }
    stamp = seen;
    return servers;
  };
  // Serialized, so that no caller gets the old list while another is reading the new one.
  let looking: Promise<readonly ServerConfig[]> = Promise.resolve(servers);
  return {
    now() {
      looking = looking.then(look);
      return looking;
    },
    problem: () => problem,
  };
}

function enabled(servers: readonly ServerConfig[]): readonly ServerConfig[] {
  return servers.filter(({ disabled }) => !disabled);
}

async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
