import type { Progress } from "../../../api/follow.ts";

/** Characters kept per speaker; the stored event brings the whole text. */
const maxCharacters = 4_000;

/** What somebody is writing now. */
export type Speaking = { readonly runId: string; readonly type: string; readonly agent: string; text: string };

/** Live output that is not stored yet: a model's words, a tool's output, another agent's. */
export class LiveText {
  readonly #speaking = new Map<string, Speaking>();

  add(runId: string, { type, text, agent = "" }: Progress): void {
    if (type === "deltas-void") this.clear(runId);
    if (text === undefined || type === "tool-call-delta") return;
    const key = `${runId} ${agent} ${type}`;
    const one = this.#speaking.get(key) ?? { runId, type, agent, text: "" };
    one.text = (one.text + text).slice(-maxCharacters);
    this.#speaking.set(key, one);
  }

  /** What a run wrote is stored. */
  clear(runId: string): void {
    for (const [key, one] of this.#speaking) if (one.runId === runId) this.#speaking.delete(key);
  }

  /** A tool's output is stored. */
  end(runId: string): void {
    for (const [key, one] of this.#speaking)
      if (one.runId === runId && one.type === "tool-output") this.#speaking.delete(key);
  }

  /** Who is writing in a run, or in all. */
  of(runId?: string): readonly Speaking[] {
    return [...this.#speaking.values()].filter((one) => runId === undefined || one.runId === runId);
  }
}
