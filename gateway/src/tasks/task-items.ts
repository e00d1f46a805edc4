import { artifactParts, messageText, type TaskUpdate } from "manyhands/internal/a2a/client/task-update";
import { stateName } from "manyhands/internal/a2a/task-state";
import type { EventOf } from "manyhands/internal/core/events/events";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { ShownState, TaskItem } from "./task-item.ts";

/**
 * The updates of an A2A stream as items for those who watch: the journal's events where the agent
 * is one of ours, status texts and artifacts where it is someone else's. The last item is always
 * the state the task was left in.
 */
export async function* taskItems(updates: AsyncIterable<TaskUpdate>): AsyncGenerator<TaskItem, void, undefined> {
  const known = new Set<string>();
  let ids = { taskId: "", contextId: "" };
  let at = Date.now();
  let told: ShownState | undefined;
  for await (const update of updates)
    switch (update.kind) {
      case "progress":
        yield { kind: "progress", event: update.progress };
        break;
      case "status": {
        const { taskId, contextId, journal, text } = update;
        if (taskId !== undefined && contextId !== undefined) ids = { taskId, contextId };
        const event = journal && readEvent(journal.event);
        at = journal?.at ?? at;
        if (event !== undefined && event.type !== "unknown") yield { kind: "event", seq: update.seq ?? 0, at, event };
        const said = journal === undefined && text !== "" ? { text } : {};
        const state = stateName(update.state);
        if (state !== told || "text" in said) yield { kind: "state", ...ids, state, ...said };
        told = state;
        break;
      }
      case "artifact":
        // A piece of an artifact is whole only in the task at the end.
        if (update.append || !update.lastChunk) break;
        known.add(update.artifact.artifactId);
        yield { kind: "event", seq: update.seq ?? 0, at, event: artifactAdded(update.artifact) };
        break;
      case "task":
        ids = { taskId: update.task.id, contextId: update.task.contextId };
        told = stateName(update.task.status?.state);
        yield { kind: "state", ...ids, state: told };
        break;
      case "end":
        for (const artifact of update.task.artifacts)
          if (!known.has(artifact.artifactId)) yield { kind: "event", seq: 0, at, event: artifactAdded(artifact) };
        yield endState(update.task);
    }
}

type WireTask = Extract<TaskUpdate, { kind: "end" }>["task"];

function endState({ id, contextId, status }: WireTask): TaskItem {
  const text = messageText(status?.message);
  const since = Date.parse(status?.timestamp ?? "");
  return {
    ...{ kind: "state", taskId: id, contextId, state: stateName(status?.state) },
    ...(!Number.isNaN(since) && { at: since }),
    ...(text !== "" && { text }),
  };
}

type WireArtifact = Extract<TaskUpdate, { kind: "artifact" }>["artifact"];

function artifactAdded(artifact: WireArtifact): EventOf<"artifact-added"> {
  return {
    type: "artifact-added",
    artifactId: artifact.artifactId,
    name: artifact.name === "" ? artifact.artifactId : artifact.name,
    parts: artifactParts(artifact),
  };
}
