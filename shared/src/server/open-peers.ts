import { createPeers, type PeerAddress, type PeersOptions } from "../a2a/ask/peers.ts";
import { insideAddress } from "../a2a/client/server-address.ts";
import { delegateTool } from "../a2a/delegate/delegate.ts";
import { openDirectory } from "../a2a/delegate/directory.ts";
import type { CardPolicy } from "../a2a/signing/card-policy.ts";
import type { HomeKeys } from "../a2a/signing/home-keys.ts";
import { agentNamed, type Config } from "../config/config.ts";
import { openCardPolicy, openKeySets } from "./open-card-policy.ts";

/** Which of them may be asked by their cards. */
export function admission(config: Config, keys: HomeKeys): Promise<CardPolicy> {
  const inside = insideAddress(Object.values(config.agents));
  return openCardPolicy(config, keys, openKeySets(config, inside));
}

/**
 * The agents to ask, by name, with the addresses and tokens of the configuration, and the
 * `delegate` tool for them. Undefined without names. `close` ends its background work.
 */
export function openPeers(
  names: readonly string[],
  { agents, peers: elsewhere }: Pick<Config, "agents" | "peers">,
  options: Omit<PeersOptions, "headers" | "known" | "inside">,
) {
  if (names.length === 0) return undefined;
  const addressed = names.map((name) => {
    const peer = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
    if (peer !== undefined) return { name, url: peer.url, token: peer.token };
    const { url, token } = agentNamed({ agents }, name);
    return { name, url, token };
  });
  const headers = ({ name }: PeerAddress): Record<string, string> => {
    const token = addressed.find((address) => address.name === name)?.token;
    return token === undefined ? {} : { Authorization: `Bearer ${token}` };
  };
  const known = (name: string) => addressed.find((address) => address.name === name);
  const peers = createPeers({ ...options, headers, known, inside: insideAddress(Object.values(agents)) });
  const directory = openDirectory(
    addressed.map(({ name, url }) => ({ name, url })),
    peers,
  );
  return { peers, tool: delegateTool(directory, peers), close: () => directory.close() };
}
