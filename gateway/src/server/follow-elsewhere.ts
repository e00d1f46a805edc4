import type { Peers } from "manyhands/internal/a2a/ask/peers";
import type { FamilyDeps } from "manyhands/internal/runs/follow-family";

/**
 * Follows the journal of a task at an agent that keeps its runs elsewhere, over A2A. Agents of
 * other systems send no journal: nothing comes of theirs.
 */
export function followElsewhere(peers: Pick<Peers, "actingFor" | "at">): NonNullable<FamilyDeps["elsewhere"]> {
  return async function* ({ agent: name, url, taskId }, { principal, after, signal }) {
    const client = await peers.actingFor(principal).client(peers.at({ name, url }), signal);
    for await (const update of client.watch(taskId, { after, signal })) {
      if (update.kind === "progress") yield { kind: "progress", event: update.progress };
      if (update.kind !== "status" || update.journal === undefined || update.seq === undefined) continue;
      yield { kind: "event", runId: taskId, seq: update.seq, ...update.journal };
    }
  };
}
