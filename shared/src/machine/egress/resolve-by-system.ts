import { lookup } from "node:dns/promises";

/** The addresses that the system's resolver knows for a name. */
export async function resolveBySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
