import { data, type ProviderWire, usual, words } from "./wire.ts";

/** Gemini's generateContent. */
export const google: ProviderWire = {
  settings: { apiType: "google", name: "gemini-3-pro-preview" },
  base: "/v1beta",
  path: /\/v1beta\/models\/[^/]+:streamGenerateContent$/,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut }) {
    const usageMetadata = {
      promptTokenCount: tokens.fresh + tokens.cached + tokens.written,
      ...(tokens.cached > 0 && { cachedContentTokenCount: tokens.cached }),
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.fresh + tokens.cached + tokens.written + tokens.output,
    };
    const about = { usageMetadata, modelVersion: "gemini-3-pro-preview", responseId: "r1" };
    const chunk = (part: object) =>
      data({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }], ...about });
    const signed = (first: boolean) => (thinking && first ? { thoughtSignature: thinking.signature } : {});
    return [
      ...(thinking ? words(thinking.text).map((word) => chunk({ text: word, thought: true })) : []),
      ...(text === undefined
        ? []
        : words(text).map((word, at) => chunk({ text: word, ...signed(calls.length === 0 && at === 0) }))),
      ...calls.map((call, at) =>
        chunk({ functionCall: { name: call.name, args: JSON.parse(call.json) }, ...signed(at === 0) }),
      ),
      data({
        candidates: [
          { content: { parts: [{ text: "" }], role: "model" }, finishReason: isCut ? "MAX_TOKENS" : "STOP", index: 0 },
        ],
        ...about,
      }),
    ];
  },
  error: (status, message) => ({
    error: {
      code: status,
      message,
      status: status === 429 ? "RESOURCE_EXHAUSTED" : status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT",
    },
  }),
  overflow: {
    status: 400,
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
};
