import { createPeers, type PeersOptions } from "../../a2a/ask/peers.ts";
import { authorizedFetch } from "../../a2a/client/credentials.ts";
import { insideAddress } from "../../a2a/client/server-address.ts";
import { missingCredentials } from "../../a2a/client/wanted-credentials.ts";
import { delegateTool } from "../../a2a/delegate/delegate.ts";
import { openDirectory } from "../../a2a/delegate/directory.ts";
import type { CardPolicy } from "../../a2a/signing/card-policy.ts";
import type { HomeKeys } from "../../a2a/signing/home-keys.ts";
import type { Config } from "../../config/config.ts";
import { agentNamed } from "../../config/named-agent.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/runs/engine.ts";
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
  {
    log,
    ...options
  }: Omit<PeersOptions, "fetch" | "isOwn" | "known" | "inside"> & { readonly log: Pick<Log, "error"> },
) {
  if (names.length === 0) return undefined;
  const inside = insideAddress(Object.values(agents));
  const addressed = names.map((name) => {
    const peer = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
    if (peer !== undefined)
      return { name, ...peer, isOwn: false, fetch: authorizedFetch(fetch, peer.credentials, inside(peer.url)) };
    const { url, credentials, isOwn } = agentNamed({ agents }, name);
    return { name, url, credentials, isOwn, fetch: authorizedFetch(fetch, credentials, inside(url)) };
  });
  const known = (called: string) => addressed.find(({ name }) => name === called);
  const admit: CardPolicy = async (card, agent) => {
    await options.admit?.(card, agent);
    const missing = missingCredentials(card, known(agent.name)?.credentials);
    if (missing !== undefined) throw new AppError("forbidden", `${agent.name} cannot be asked: ${missing}`);
  };
  const peers = createPeers({
    ...options,
    admit,
    fetch: ({ name }) => known(name)?.fetch ?? fetch,
    isOwn: ({ name }) => known(name)?.isOwn === true,
    known,
    inside,
  });
  const directory = openDirectory(
    addressed.map(({ name, url }) => ({ name, url })),
    peers,
    log,
  );
  return { peers, tool: delegateTool(directory, peers), close: () => directory.close() };
}
