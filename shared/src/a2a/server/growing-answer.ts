import type { StreamResponse } from "@a2a-js/sdk";
import type { PeerWriting, Progress } from "../../core/events/progress.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { StoredEvent } from "../../core/runs/engine.ts";
import type { RunEvent } from "../../core/runs/run.ts";
import type { TaskIdentity } from "../task-view.ts";
import { textPart } from "../wire-part.ts";

/**
 * Which of a run's live text may become its answer: every reply of an agent's own model, or only
 * what a flow marks as its answer.
 */
export type AnswerDraft = "replies" | "marked";

/** The answer of one task as a reader sees it grow. */
export type GrowingAnswer = {
  /** The chunks that a piece of live text adds; none for text that is not the answer's. */
  grow(event: RunEvent): StreamResponse[];
  /**
   * Empties the answer when a stored event says that the text was not the answer, or when the run
   * asks something first.
   */
  settle(stored: StoredEvent): StreamResponse[];
};

/**
 * Streams the answer as chunks of its artifact, which the stored artifact replaces at the end. A
 * draft begins with an empty chunk, because some readers take the first chunk for the whole
 * artifact. A reader that missed the beginning of a draft waits for the artifact itself.
 */
export function growingAnswer({ id, contextId }: TaskIdentity, draft: AnswerDraft): GrowingAnswer {
  let shown: number | undefined;
  const chunk = (text: string, append: boolean): StreamResponse => {
    const about = { artifactId: `${id}/answer`, name: "answer", description: "", metadata: undefined, extensions: [] };
    const artifact = { ...about, parts: [textPart(text)] };
    const value = { taskId: id, contextId, artifact, append, lastChunk: false, metadata: undefined };
    return { payload: { $case: "artifactUpdate", value } };
  };
  const emptied = (): StreamResponse[] => {
    if (shown === undefined) return [];
    shown = undefined;
    return [chunk("", false)];
  };
  return {
    grow(event) {
      if (isThought(event as Progress | PeerWriting)) return emptied();
      const piece = pieceOf(event as Progress | PeerWriting, draft);
      if (piece === undefined || (piece.at !== 0 && piece.at !== shown)) return [];
      shown = piece.at + piece.text.length;
      return [...(piece.at === 0 ? [chunk("", false)] : []), chunk(piece.text, true)];
    },
    settle({ event }) {
      if (shown === undefined) return [];
      const read = readEvent(event);
      const wasThought = read.type === "model-replied" && read.toolCalls.length > 0;
      return wasThought || read.type === "question-asked" ? emptied() : [];
    },
  };
}

/** Whether the agent whose answer is this one goes on after what it has just written. */
function isThought(event: Progress | PeerWriting): boolean {
  return event.type === "agent-written" && event.isAnswer === true && event.isThought === true;
}

function pieceOf(event: Progress | PeerWriting, draft: AnswerDraft): { text: string; at: number } | undefined {
  if (event.type !== "text-delta" && event.type !== "agent-writing") return undefined;
  const isDraft = event.isAnswer === true || (draft === "replies" && event.type === "text-delta");
  return isDraft && event.at !== undefined ? { text: event.text, at: event.at } : undefined;
}
