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
  for await (const update of updates) {
    if (update.kind === "progress") yield { kind: "progress", event: update.progress };
    if (update.kind === "status") {
      const { taskId, contextId } = update;
      if (taskId !== undefined && contextId !== undefined) ids = { taskId, contextId };
      const event = update.journal && readEvent(update.journal.event);
      at = update.journal?.at ?? at;
      if (event !== undefined && event.type !== "unknown") yield { kind: "event", seq: update.seq ?? 0, at, event };
      const said = update.journal === undefined && update.text !== "" ? { text: update.text } : {};
      const state = stateName(update.state);
      if (state !== told || "text" in said) yield { kind: "state", ...ids, state, ...said };
      told = state;
    }
    if (update.kind === "artifact") {
      // A piece of an artifact is whole only in the task at the end.
      if (update.append || !update.lastChunk) continue;
      known.add(update.artifact.artifactId);
      yield { kind: "event", seq: update.seq ?? 0, at, event: artifactAdded(update.artifact) };
    }
    if (update.kind !== "task" && update.kind !== "end") continue;
    const { task } = update;
    ids = { taskId: task.id, contextId: task.contextId };
    if (update.kind === "end")
      for (const artifact of task.artifacts.filter(({ artifactId }) => !known.has(artifactId)))
        yield { kind: "event", seq: 0, at, event: artifactAdded(artifact) };
    told = stateName(task.status?.state);
    const text = update.kind === "end" ? messageText(task.status?.message) : "";
    const since = Date.parse(task.status?.timestamp ?? "");
    const ended = update.kind === "end" && !Number.isNaN(since) ? { at: since } : {};
    yield { kind: "state", ...ids, state: told, ...ended, ...(text === "" ? {} : { text }) };
  }
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
