import type { AgentCard } from "@a2a-js/sdk";
import { logBug } from "../../core/async/log-bug.ts";
import { sleep } from "../../core/async/sleep.ts";
import type { Log } from "../../core/runs/engine.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { PeerAddress, Peers } from "../ask/peers.ts";

/** The agents that can be asked by name, and their cards' descriptions. */
export type Directory = {
  readonly addresses: readonly PeerAddress[];
  /** One line per agent: what it is and can do, or that it was not reached yet. */
  describe(): string;
  /** Stops retrying agents that were not reached. */
  close(): void;
};

const firstPauseMs = 2_000;
const longestPauseMs = 60_000;

/**
 * Reads the cards in the background and retries agents that are not up yet. Never waits and never
 * fails.
 */
export function openDirectory(
  addresses: readonly PeerAddress[],
  peers: Pick<Peers, "client">,
  log: Pick<Log, "error">,
): Directory {
  const closed = new AbortController();
  const cards = new Map<string, string>();
  for (const address of addresses) void readCard(address);

  async function readCard(address: PeerAddress): Promise<void> {
    const failed = logBug(log, `The card of ${address.name} could not be read; it is tried again.`);
    for (let pauseMs = firstPauseMs; !closed.signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        cards.set(address.name, inWords((await peers.client(address, closed.signal)).card));
        return;
      } catch (error) {
        if (!closed.signal.aborted) failed(error);
        await sleep(pauseMs, closed.signal).catch(() => undefined);
      }
    }
  }

  return {
    addresses,
    describe: () =>
      addresses
        .map(({ name }) => `- ${name}: ${cards.get(name) ?? "still starting; it will be waited for."}`)
        .join("\n"),
    close: () => closed.abort(),
  };
}

/**
 * A card in one line, plain because the other agent wrote it, and short because every prompt has
 * it: the description, with the skills' names where it says little.
 */
function inWords({ description, skills }: AgentCard): string {
  const line = firstSentences(sanitizeLine(description, 500), 120);
  if (line.length > 80 || skills.length === 0) return line;
  return `${line} Skills: ${skills
    .slice(0, 8)
    .map(({ name }) => sanitizeLine(name, 60))
    .join("; ")}.`;
}

/** As many whole sentences as fit; of a first one that does not, as many whole words. */
function firstSentences(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.slice(0, limit);
  const sentences = /^.*[.!?](?= )/.exec(text.slice(0, limit + 1))?.[0];
  return sentences ?? `${start.replace(/[\s,;:(]+\S*$/, "")} …`;
}
