import { clusterAgents } from "./cluster.ts";
import { readEvents } from "./read-events.ts";

/** A task that the system accepted, and what its callers saw of it. */
export type AcceptedTask = {
  readonly task: string;
  readonly id: string;
  /** What a reader at each gateway saw, in order; resolved once the run has ended. */
  readonly readers: Promise<readonly (readonly string[])[]>;
};

const answeredWithinMs = 5_000;
const againMs = 100;

/**
 * Hands a task in until it is accepted, or the signal says that nobody waits any more: a caller
 * cannot know whether a lost request was.
 */
export async function handIn(
  url: string,
  task: string,
  gateways: readonly string[],
  signal: AbortSignal,
): Promise<AcceptedTask | undefined> {
  const body = JSON.stringify({ input: `Do ${task}`, agents: clusterAgents });
  while (!signal.aborted) {
    const response = await fetch(`${url}/flows/sequential`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": task },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answeredWithinMs)]),
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response !== undefined && text !== undefined) {
      if (response.status === 202) {
        const { runId: id } = JSON.parse(text);
        return {
          task,
          id,
          readers: Promise.all(gateways.map((gateway) => readEvents(`${gateway}/runs/${id}`, signal))),
        };
      }
      if (response.status < 500) throw new Error(`${task} was refused with ${response.status}: ${text}`);
    }
    await Bun.sleep(againMs);
  }
  return undefined;
}
