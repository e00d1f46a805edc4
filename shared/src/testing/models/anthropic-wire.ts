import { event, type ProviderWire, usual, words } from "./wire.ts";

/** Anthropic's Messages. */
export const anthropic: ProviderWire = {
  settings: { apiType: "anthropic", name: "claude-sonnet-4-5" },
  base: "/v1",
  path: /\/v1\/messages$/,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut, refusal }) {
    const blocks = [
      ...(thinking
        ? [
            {
              start: { type: "thinking", thinking: "", signature: "" },
              deltas: [
                ...words(thinking.text).map((word) => ({ type: "thinking_delta", thinking: word })),
                { type: "signature_delta", signature: thinking.signature },
              ],
            },
          ]
        : []),
      ...(text === undefined
        ? []
        : [
            {
              start: { type: "text", text: "" },
              deltas: words(text).map((word) => ({ type: "text_delta", text: word })),
            },
          ]),
      ...calls.map((call) => ({
        start: { type: "tool_use", id: call.id, name: call.name, input: {} },
        deltas: words(call.json).map((word) => ({ type: "input_json_delta", partial_json: word })),
      })),
    ];
    const counted = {
      input_tokens: tokens.fresh,
      cache_creation_input_tokens: tokens.written,
      cache_read_input_tokens: tokens.cached,
    };
    const message = { model: "claude-sonnet-4-5", id: "msg_1", type: "message", role: "assistant", content: [] };
    const details = { type: "refusal", category: "cyber", explanation: refusal };
    const stop = refusal !== undefined ? "refusal" : isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
    return [
      event({
        type: "message_start",
        message: { ...message, stop_reason: null, usage: { ...counted, output_tokens: 1 } },
      } as never),
      event({ type: "ping" }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event({ type: "content_block_start", index, content_block: start } as never),
        ...deltas.map((delta) => event({ type: "content_block_delta", index, delta } as never)),
        event({ type: "content_block_stop", index } as never),
      ]),
      event({
        type: "message_delta",
        delta: { stop_reason: stop, stop_sequence: null, ...(refusal !== undefined && { stop_details: details }) },
        usage: { ...counted, output_tokens: tokens.output },
      } as never),
      event({ type: "message_stop" }),
    ];
  },
  error: (status, message) => ({
    type: "error",
    error: {
      type: status === 429 ? "rate_limit_error" : status >= 500 ? "api_error" : "invalid_request_error",
      message,
    },
    request_id: "req_1",
  }),
  overflow: { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
};
