import type { KeptText } from "../../core/text/kept-text.ts";

/** A kept text in memory; `body` is what is kept. For tests. */
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
