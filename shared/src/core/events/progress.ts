import * as z from "zod";

const text = z.string();

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
  z.object({ type: z.literal("tool-output"), callId: text, text }),
  /** What an asked agent says, as it says it. */
  z.object({ type: z.literal("agent-output"), askId: text, agent: text, text }),
]);

/** Progress of a run. */
export type Progress = Readonly<z.output<typeof progressSchema>>;

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
