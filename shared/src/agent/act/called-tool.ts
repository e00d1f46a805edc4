import { FilesUnavailable } from "../../core/errors.ts";
import type { ToolCall, Usage } from "../../core/model.ts";
import type { RecordedRequest } from "../../core/runs/asked-request.ts";
import type { Run } from "../../core/runs/run.ts";
import { counted } from "../../core/text/counted.ts";
import type { ToolResult } from "../../core/tools/tool.ts";
import type { ArtifactStore, StoredFile, Workspace } from "../../core/workspace.ts";
import type { AgentState } from "../task/agent-state.ts";
import { boundText, charactersOf } from "../task/bound-text.ts";

/** The recorded outcome of a call: the result as the model reads it, with images by reference. */
export type CalledTool = {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly milliseconds: number;
  /** One entry for each time the tool asked the model. */
  readonly usage?: readonly Usage[];
  readonly asked?: readonly RecordedRequest[];
  readonly images?: readonly StoredFile[];
  /** Where its content came from. Earlier versions left it out if the tool's name said it. */
  readonly takenIn?: NonNullable<ToolResult["takenIn"]>;
  readonly shows?: NonNullable<ToolResult["shows"]>;
  readonly end?: NonNullable<ToolResult["end"]>;
  /** The call has no result yet: it is made again with the person's answer to this question. */
  readonly asks?: NonNullable<ToolResult["asks"]>;
};

type Bounds = {
  readonly callId: string;
  readonly name: string;
  readonly workspace: Workspace;
  readonly artifacts: ArtifactStore;
  readonly turn: { readonly task: AgentState; readonly calls: number };
};

/**
 * The result with its text cut to size and its images stored. What the call did is told also while
 * its images cannot be kept: to wait for that would be to make the call again.
 */
export async function bounded(result: ToolResult, { callId, name, workspace, turn, artifacts }: Bounds) {
  if (result.asks !== undefined) return { callId, name, text: "", isError: false, asks: result.asks };
  const { limits, contextWindow } = turn.task;
  // What is past the limit is left out in any case, and may be megabytes.
  const read = result.text.slice(0, limits.resultCharacters);
  const limit = Math.min(limits.resultCharacters, charactersOf(read, contextWindow, turn.calls));
  const spill = (whole: string) => workspace.spill(`${name}.txt`, whole);
  const cut = await boundText(result.text, limit, result.keptAt === undefined ? spill : undefined);
  const given = result.images ?? [];
  const stored = await Promise.all(
    given.map((image, index) =>
      artifacts
        .put(Buffer.from(image.data, "base64"), { name: `${name}-${index + 1}`, mediaType: image.mediaType })
        .catch(unlessAway),
    ),
  );
  const images = stored.filter((image) => image !== undefined);
  const lost = given.length - images.length;
  const text = lost === 0 ? cut : `${cut}\n[${counted(lost, "picture")} could not be kept and cannot be shown now.]`;
  return {
    callId,
    name,
    text,
    isError: result.isError,
    ...(images.length > 0 && { images }),
    ...(result.takenIn && { takenIn: result.takenIn }),
    ...(result.shows && text === result.text && { shows: result.shows }),
    ...(result.end && { end: result.end }),
  };
}

function unlessAway(error: unknown): undefined {
  if (!(error instanceof FilesUnavailable)) throw error;
}

/** The event that tells how a call ended. */
export function ended({ callId, name, text, isError, milliseconds, images, takenIn, shows }: CalledTool) {
  const more = { ...(images && { images }), ...(takenIn && { takenIn }), ...(shows && { shows }) };
  return { type: "tool-ended", callId, name, text, isError, milliseconds, ...more } as const;
}

/** Emits that the call has ended, and returns its outcome. */
export function emitEnded(run: Run, called: CalledTool): CalledTool {
  run.emit(ended(called));
  return called;
}

/** Refuses a call with an error result. */
export function refuse({ id: callId, name }: ToolCall, text: string, task: AgentState): void {
  task.run.emit({ type: "tool-ended", callId, name, text, isError: true, milliseconds: 0, takenIn: [] });
  task.messages.push({ role: "tool", callId, name, text, isError: true });
}
