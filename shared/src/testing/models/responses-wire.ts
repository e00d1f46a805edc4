import { event, type ProviderWire, usual, words } from "./wire.ts";

/** OpenAI's Responses. */
export const responses: ProviderWire = {
  settings: { apiType: "responses", name: "gpt-5-codex" },
  base: "/v1",
  path: /\/v1\/responses$/,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut, refusal }) {
    const response = { id: "resp_1", object: "response", created_at: 1_787_659_560, model: "gpt-5-codex", output: [] };
    const items = [
      ...(thinking
        ? [{ item: { id: "rs_1", type: "reasoning", encrypted_content: thinking.signature, summary: [] }, deltas: [] }]
        : []),
      ...[text, refusal]
        .filter((said) => said !== undefined)
        .map((said) => ({
          item: { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [] },
          deltas: words(said).map((delta) => ({
            type: said === refusal ? "response.refusal.delta" : "response.output_text.delta",
            item_id: "msg_1",
            content_index: 0,
            delta,
          })),
        })),
      ...calls.map((call) => ({
        item: {
          id: `fc_${call.id}`,
          type: "function_call",
          status: "completed",
          call_id: call.id,
          name: call.name,
          arguments: call.json,
        },
        deltas: words(call.json).map((delta) => ({
          type: "response.function_call_arguments.delta",
          item_id: `fc_${call.id}`,
          delta,
        })),
      })),
    ];
    const usage = {
      input_tokens: tokens.fresh + tokens.cached + tokens.written,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens.fresh + tokens.cached + tokens.written + tokens.output,
    };
    return [
      event({ type: "response.created", response: { ...response, status: "in_progress" } } as never),
      ...items.flatMap(({ item, deltas }, output_index) => [
        event({
          type: "response.output_item.added",
          output_index,
          item: "arguments" in item ? { ...item, arguments: "" } : item,
        } as never),
        ...deltas.map((delta) => event({ output_index, ...delta } as never)),
        event({ type: "response.output_item.done", output_index, item } as never),
      ]),
      event(
        (isCut
          ? {
              type: "response.incomplete",
              response: { ...response, incomplete_details: { reason: "max_output_tokens" }, usage },
            }
          : {
              type: "response.completed",
              response: { ...response, status: "completed", incomplete_details: null, usage },
            }) as never,
      ),
    ];
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? "requests" : "invalid_request_error",
      param: null,
      code: status === 429 ? "rate_limit_exceeded" : null,
    },
  }),
  overflow: {
    status: 400,
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
};
