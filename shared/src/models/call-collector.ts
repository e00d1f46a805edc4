import type { ModelEvent, ToolCall } from "../core/model.ts";
import type { ToolCallDelta } from "./completion-chunk.ts";

type CallDelta = ModelEvent & { readonly type: "tool-call-delta" };

/** Puts the tool calls of a streamed answer together. */
export interface CallCollector {
  push(delta: ToolCallDelta): CallDelta;
  /** The calls so far, in order; an id is empty when the provider gave none. */
  calls(): readonly ToolCall[];
}

/** Copes with servers that leave out the index, or give every call the same one. */
export function createCallCollector(): CallCollector {
  const found: { index: number | undefined; id: string; name: string; arguments: string }[] = [];

  function callOf(delta: ToolCallDelta): (typeof found)[number] {
    const id = delta.id ?? "";
    const name = delta.function?.name ?? "";
    const index = delta.index ?? undefined;
    const known = index === undefined ? found.at(-1) : found.findLast((call) => call.index === index);
    const other = known !== undefined && id !== "" && known.id !== id && name !== "";
    const next = known !== undefined && index === undefined && id === "" && name !== "";
    if (known !== undefined && !other && !next) return known;
    const call = { index, id, name, arguments: "" };
    found.push(call);
    return call;
  }

  return {
    push(delta) {
      const call = callOf(delta);
      if (call.id === "") call.id = delta.id ?? "";
      if (call.name === "") call.name = delta.function?.name ?? "";
      const given = delta.function?.arguments ?? "";
      const text = typeof given === "string" ? given : JSON.stringify(given);
      call.arguments += text;
      return { type: "tool-call-delta", index: found.indexOf(call), name: call.name, arguments: text };
    },
    calls: () => found.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
  };
}
