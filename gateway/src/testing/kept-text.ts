import type { KeptText } from "manyhands/internal/core/text/kept-text";

/** A kept text in memory; `body` is what is kept. */
export function textInMemory(): KeptText & { body: string | undefined } {
  const text: KeptText & { body: string | undefined } = {
    body: undefined,
    read: async () => text.body,
    version: async () => text.body ?? "",
    async change(next) {
      text.body = next(text.body);
    },
    alone: (_, work) => work(),
  };
  return text;
}
