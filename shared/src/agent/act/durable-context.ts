import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { sourcesIn } from "../../core/taken-in.ts";
import type { DurableContext } from "../../core/tools/durable-context.ts";
import { storeFile } from "../../machine/workspace/artifacts/artifact-store.ts";
import { heldSources } from "../../machine/workspace/held-sources.ts";
import { openSubBudget } from "../model-call/spending.ts";
import type { AgentState } from "../task/agent-state.ts";
import { placeFiles, type ReceiveDeps } from "../task/receive.ts";
import { userWords } from "../task/user-words.ts";

/**
 * What a durable call may use of its task. `run` is the call's own: a branch if calls run in
 * parallel.
 */
export function durableContext(run: Run, task: AgentState, deps: ReceiveDeps): DurableContext {
  return {
    hops: task.hops,
    answerMs: task.limits.answerMs,
    said: userWords(task),
    get takenIn() {
      return [...task.takenIn];
    },
    place: (parts) => {
      for (const source of sourcesIn(parts)) task.takenIn.add(source);
      return placeFiles(run, parts, task.received, deps);
    },
    adopt: (parts) => placeFiles(run, parts, undefined, deps),
    async attach(paths) {
      if (paths.length === 0) return [];
      const attached = await attach(run, paths, task, deps);
      if ("held" in attached) for (const source of attached.held) task.takenIn.add(source);
      return "held" in attached ? attached.parts : attached;
    },
    receiveMessages: (messages) => void task.pendingMessages.push(...messages),
    subBudget: (share) => openSubBudget(task, share),
  };
}

/**
 * Files as parts; with the sources that they may be from, where others than the task brought some.
 */
type Attached = readonly Part[] | { readonly parts: readonly Part[]; readonly held: readonly string[] };

function attach(run: Run, paths: readonly string[], task: AgentState, deps: ReceiveDeps): Promise<Attached> {
  return run.step("attach", async (): Promise<Attached> => {
    const workspace = await deps.openWorkspace(run.principal, run.contextId);
    const parts: Part[] = [];
    for (const path of paths) parts.push({ type: "file", ...(await storeFile(workspace, deps.artifacts, path)) });
    const held = (await heldSources(workspace, task.run.id)).filter((source) => !task.takenIn.has(source));
    return held.length === 0 ? parts : { parts, held };
  });
}
