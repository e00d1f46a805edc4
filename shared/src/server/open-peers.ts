import { createPeers, type PeerAddress, type PeersOptions } from "../a2a/ask/peers.ts";
import { insideAddress } from "../a2a/client/server-address.ts";
import { delegateTool } from "../a2a/delegate/delegate.ts";
import { openDirectory } from "../a2a/delegate/directory.ts";
import { agentNamed, type Config } from "../config/config.ts";

/**
 * The agents to ask, by name, with the addresses and tokens of the configuration, and the
 * `delegate` tool for them. Undefined without names. `close` ends its background work.
 */
export function openPeers(
  names: readonly string[],
  { agents, peers: elsewhere }: Pick<Config, "agents" | "peers">,
  options: Omit<PeersOptions, "headers" | "isOwn" | "known" | "inside">,
) {
  if (names.length === 0) return undefined;
  const addressed = names.map((name) => {
    const peer = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
    if (peer !== undefined) return { name, url: peer.url, token: peer.token, isOwn: false };
    const { url, token, isOwn } = agentNamed({ agents }, name);
    return { name, url, token, isOwn };
  });
  const headers = ({ name }: PeerAddress): Record<string, string> => {
    const token = addressed.find((address) => address.name === name)?.token;
    return token === undefined ? {} : { Authorization: `Bearer ${token}` };
  };
  const known = (name: string) => addressed.find((address) => address.name === name);
  const isOwn = ({ name }: PeerAddress) => known(name)?.isOwn === true;
  const peers = createPeers({ ...options, headers, isOwn, known, inside: insideAddress(Object.values(agents)) });
  const directory = openDirectory(
    addressed.map(({ name, url }) => ({ name, url })),
    peers,
  );
  return { peers, tool: delegateTool(directory, peers), close: () => directory.close() };
}
