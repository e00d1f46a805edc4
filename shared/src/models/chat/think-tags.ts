const open = "<think>";
const close = "</think>";

/** A piece of an answer, by what it is. */
export type ReplyPiece = { readonly type: "text-delta" | "reasoning-delta"; readonly text: string };

/** Separates the streamed text of an answer into reasoning and answer. */
export interface ThinkSplitter {
  push(text: string): readonly ReplyPiece[];
  /** The text held back as a possible beginning of a tag. */
  end(): readonly ReplyPiece[];
}

/**
 * For servers that leave a local model's reasoning in its text: a `<think>` part is treated as
 * reasoning, but only at the very beginning, since later it is something the answer talks about.
 */
export function createThinkSplitter(): ThinkSplitter {
  let state: "start" | "thinking" | "answer" = "start";
  let held = "";

  function take(final: boolean): readonly ReplyPiece[] {
    if (state === "start") {
      const seen = held.trimStart();
      if (seen.startsWith(open)) {
        state = "thinking";
        held = seen.slice(open.length);
      } else if (final || !open.startsWith(seen)) state = "answer";
      else return [];
    }
    if (state === "answer") return piece("text-delta", takeHeld(held.length));
    const at = held.indexOf(close);
    if (at === -1) return piece("reasoning-delta", takeHeld(final ? held.length : held.length - partialTag(held)));
    const thought = piece("reasoning-delta", held.slice(0, at));
    held = held.slice(at + close.length).trimStart();
    state = "answer";
    return [...thought, ...piece("text-delta", takeHeld(held.length))];
  }

  function takeHeld(length: number): string {
    const taken = held.slice(0, length);
    held = held.slice(length);
    return taken;
  }

  return {
    push(text) {
      held += text;
      return take(false);
    },
    end: () => take(true),
  };
}

/** How many characters at the end may be the beginning of the closing tag. */
function partialTag(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (close.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

function piece(type: ReplyPiece["type"], text: string): readonly ReplyPiece[] {
  return text === "" ? [] : [{ type, text }];
}
