import { deltasOf, finishOf } from "../../models/chat/chat-protocol.ts";
import { anthropic } from "./anthropic-wire.ts";
import { bedrock } from "./bedrock-wire.ts";
import { google } from "./google-wire.ts";
import { responses } from "./responses-wire.ts";
import { data, type ProviderWire, usual } from "./wire.ts";

/** OpenAI's chat completions, on Azure or anywhere. */
const chat = (settings: ProviderWire["settings"], base: string, path: RegExp): ProviderWire => ({
  settings,
  base,
  path,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut, refusal }) {
    const answer = {
      ...(text !== undefined && { text }),
      ...(thinking && { reasoning: thinking.text }),
      calls: calls.map((call) => ({ id: call.id, name: call.name, rawArguments: call.json })),
      ...(isCut && { finish: "length" }),
      ...(refusal !== undefined && { refusal }),
    };
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: settings.name };
    const usage = {
      prompt_tokens: tokens.fresh + tokens.cached + tokens.written,
      completion_tokens: tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cached },
    };
    return [
      ...deltasOf(answer).map((delta) => data({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
      data({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] }),
      data({ ...head, choices: [], usage }),
      data("[DONE]"),
    ];
  },
  error: (status, message) => ({
    error: { message, type: "error", code: status === 429 ? "rate_limit_exceeded" : null },
  }),
  overflow: {
    status: 400,
    message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  },
});

/** Every protocol that a model can be asked by. */
export const providerWires = {
  openai: chat({ name: "gpt-4o" }, "/v1", /\/v1\/chat\/completions$/),
  azure: chat(
    { apiType: "azure", name: "my-gpt-4o" },
    "/openai/deployments/my-gpt-4o",
    /\/openai\/deployments\/my-gpt-4o\/chat\/completions$/,
  ),
  responses,
  anthropic,
  google,
  bedrock,
} as const;
