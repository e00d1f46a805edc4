import * as z from "zod";

const text = z.string();

/** Through how many agents output is passed on, one above the other. */
const deepestAsk = 16;

/** Each kind of progress: shown live to current watchers, never stored. */
export const progressSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("notice-given"), kind: z.literal("tools"), text }),
  /**
   * `at`: how many characters of the reply came before. A reader that sees a gap waits for the
   * whole reply. `isAnswer`: the reply becomes a flow's answer.
   */
  z.object({
    type: z.literal("text-delta"),
    text,
    at: z.number().exactOptional(),
    isAnswer: z.boolean().exactOptional(),
  }),
  z.object({ type: z.literal("reasoning-delta"), text }),
  /**
   * A piece of the arguments the model is writing for the call at this index (from 0) of its turn.
   */
  z.object({ type: z.literal("tool-call-delta"), index: z.number(), name: text, arguments: text }),
  /** The deltas since the step started are void. */
  z.object({ type: z.literal("deltas-void"), cause: text }),
  /**
   * What a call prints. Of a call of an asked agent, its asker passes it on: `askId` is the asker's
   * ask, `below` those that lead on from there, and `after` the event it came after in the journal
   * of the task that makes the call.
   */
  z.object({
    type: z.literal("tool-output"),
    callId: text,
    text,
    askId: text.exactOptional(),
    below: z.array(text).max(deepestAsk).exactOptional(),
    after: z.number().exactOptional(),
  }),
  /** What an asked agent says, as it says it. */
  z.object({ type: z.literal("agent-output"), askId: text, agent: text, text }),
]);

/** Progress of a run. */
export type Progress = Readonly<z.output<typeof progressSchema>>;

/** What a call prints, as progress of the run that makes it or of one that asked for that run. */
export type ToolOutput = Extract<Progress, { type: "tool-output" }>;

/** Output that a run passes on from an agent it asked. */
export type RelayedOutput = Required<Pick<ToolOutput, "askId" | "after">> & ToolOutput;

/** The event as output that is passed on, if it is that. */
export function relayedOutput(event: { readonly type: string; readonly askId?: unknown }): RelayedOutput | undefined {
  if (event.type !== "tool-output" || event.askId === undefined) return undefined;
  const output = progressSchema.safeParse(event).data;
  if (output?.type !== "tool-output" || output.askId === undefined) return undefined;
  return { ...output, askId: output.askId, after: output.after ?? 0 };
}

/**
 * What an asked agent of ours writes: piece by piece, and the whole when a reply is done.
 * `isAnswer`: its answer becomes that of the asking run. Shown only to live followers of the asking
 * run in its own process.
 */
export type PeerWriting = { readonly askId: string; readonly text: string; readonly isAnswer?: boolean } & (
  | { readonly type: "agent-writing"; readonly at: number }
  /** `isThought`: the reply goes on with calls, so it is no answer. */
  | { readonly type: "agent-written"; readonly isThought?: boolean }
);
