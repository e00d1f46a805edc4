import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { deltasOf, finishOf } from "../../models/chat/chat-protocol.ts";
import type { ModelSettings } from "../../models/config.ts";

/** What a model answers, in no provider's words. */
export type WireAnswer = {
  readonly text?: string;
  /** Thinking with the signature that its provider wants back. */
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly json: string }[];
  readonly tokens?: { readonly fresh: number; readonly cached: number; readonly written: number; readonly output: number };
  readonly isCut?: boolean;
};

/** A provider's protocol, as its servers speak it. */
export type ProviderWire = {
  readonly settings: Pick<ModelSettings, "apiType" | "name" | "region">;
  /** What is appended to the server's address for a client. */
  readonly base: string;
  /** Where requests arrive. */
  readonly path: RegExp;
  readonly contentType: string;
  /** The frames of a streamed answer; the last ones say why it ended. */
  frames(answer: WireAnswer): readonly Uint8Array[];
  /** The body of an error. */
  error(status: number, message: string): object;
  /** How it says that a prompt is too long. */
  readonly overflow: { readonly status: number; readonly message: string };
};

const encoder = new TextEncoder();
const json = (value: unknown) => JSON.stringify(value);
const event = (data: { readonly type: string }) => encoder.encode(`event: ${data.type}\ndata: ${json(data)}\n\n`);
const data = (value: object | string) => encoder.encode(`data: ${typeof value === "string" ? value : json(value)}\n\n`);
const words = (text: string) => text.match(/\s*\S+|\s+/g) ?? [];
const usual = { fresh: 10, cached: 0, written: 0, output: 5 };

const anthropic: ProviderWire = {
  settings: { apiType: "anthropic", name: "claude-sonnet-4-5" },
  base: "/v1",
  path: /\/v1\/messages$/,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut }) {
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
        : [{ start: { type: "text", text: "" }, deltas: words(text).map((word) => ({ type: "text_delta", text: word })) }]),
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
    const stop = isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
    return [
      event({ type: "message_start", message: { ...message, stop_reason: null, usage: { ...counted, output_tokens: 1 } } } as never),
      event({ type: "ping" }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event({ type: "content_block_start", index, content_block: start } as never),
        ...deltas.map((delta) => event({ type: "content_block_delta", index, delta } as never)),
        event({ type: "content_block_stop", index } as never),
      ]),
      event({
        type: "message_delta",
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { ...counted, output_tokens: tokens.output },
      } as never),
      event({ type: "message_stop" }),
    ];
  },
  error: (status, message) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : status >= 500 ? "api_error" : "invalid_request_error", message },
    request_id: "req_1",
  }),
  overflow: { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
};

const google: ProviderWire = {
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
    const chunk = (part: object) => data({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }], ...about });
    const signed = (first: boolean) => (thinking && first ? { thoughtSignature: thinking.signature } : {});
    return [
      ...(thinking ? words(thinking.text).map((word) => chunk({ text: word, thought: true })) : []),
      ...(text === undefined ? [] : words(text).map((word, at) => chunk({ text: word, ...signed(calls.length === 0 && at === 0) }))),
      ...calls.map((call, at) => chunk({ functionCall: { name: call.name, args: JSON.parse(call.json) }, ...signed(at === 0) })),
      data({
        candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: isCut ? "MAX_TOKENS" : "STOP", index: 0 }],
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

const codec = new EventStreamCodec(toUtf8, fromUtf8);
const frame = (type: string, body: object) =>
  codec.encode({
    headers: {
      ":event-type": { type: "string", value: type },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: "event" },
    },
    body: encoder.encode(json(body)),
  });

const bedrock: ProviderWire = {
  settings: { apiType: "aws", name: "us.anthropic.claude-3-7-sonnet-20250219-v1:0", region: "us-west-2" },
  base: "",
  path: /\/model\/[^/]+\/converse-stream$/,
  contentType: "application/vnd.amazon.eventstream",
  frames({ text, thinking, calls = [], tokens = usual, isCut }) {
    const blocks = [
      ...(thinking
        ? [
            {
              deltas: [
                ...words(thinking.text).map((word) => ({ reasoningContent: { text: word } })),
                { reasoningContent: { signature: thinking.signature } },
              ],
            },
          ]
        : []),
      ...(text === undefined ? [] : [{ deltas: words(text).map((word) => ({ text: word })) }]),
      ...calls.map((call) => ({
        start: { toolUse: { toolUseId: call.id, name: call.name } },
        deltas: words(call.json).map((word) => ({ toolUse: { input: word } })),
      })),
    ] as { start?: object; deltas: object[] }[];
    return [
      frame("messageStart", { role: "assistant" }),
      ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start ? [frame("contentBlockStart", { contentBlockIndex, start })] : []),
        ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
        frame("contentBlockStop", { contentBlockIndex }),
      ]),
      frame("messageStop", { stopReason: isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn" }),
      frame("metadata", {
        usage: {
          inputTokens: tokens.fresh,
          outputTokens: tokens.output,
          totalTokens: tokens.fresh + tokens.output,
          cacheReadInputTokens: tokens.cached,
          cacheWriteInputTokens: tokens.written,
        },
        metrics: { latencyMs: 5 },
      }),
    ];
  },
  error: (_, message) => ({ message }),
  overflow: { status: 400, message: "Input is too long for requested model." },
};

const responses: ProviderWire = {
  settings: { apiType: "responses", name: "gpt-5-codex" },
  base: "/v1",
  path: /\/v1\/responses$/,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut }) {
    const response = { id: "resp_1", object: "response", created_at: 1_787_659_560, model: "gpt-5-codex", output: [] };
    const items = [
      ...(thinking
        ? [{ item: { id: "rs_1", type: "reasoning", encrypted_content: thinking.signature, summary: [] }, deltas: [] }]
        : []),
      ...(text === undefined
        ? []
        : [
            {
              item: { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [] },
              deltas: words(text).map((delta) => ({ type: "response.output_text.delta", item_id: "msg_1", content_index: 0, delta })),
            },
          ]),
      ...calls.map((call) => ({
        item: { id: `fc_${call.id}`, type: "function_call", status: "completed", call_id: call.id, name: call.name, arguments: call.json },
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
        event({ type: "response.output_item.added", output_index, item: "arguments" in item ? { ...item, arguments: "" } : item } as never),
        ...deltas.map((delta) => event({ output_index, ...delta } as never)),
        event({ type: "response.output_item.done", output_index, item } as never),
      ]),
      event(
        (isCut
          ? { type: "response.incomplete", response: { ...response, incomplete_details: { reason: "max_output_tokens" }, usage } }
          : { type: "response.completed", response: { ...response, status: "completed", incomplete_details: null, usage } }) as never,
      ),
    ];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? "requests" : "invalid_request_error", param: null, code: status === 429 ? "rate_limit_exceeded" : null },
  }),
  overflow: {
    status: 400,
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
};

/** OpenAI's chat completions, on Azure or anywhere. */
const chat = (settings: ProviderWire["settings"], base: string, path: RegExp): ProviderWire => ({
  settings,
  base,
  path,
  contentType: "text/event-stream",
  frames({ text, thinking, calls = [], tokens = usual, isCut }) {
    const answer = {
      ...(text !== undefined && { text }),
      ...(thinking && { reasoning: thinking.text }),
      calls: calls.map((call) => ({ id: call.id, name: call.name, rawArguments: call.json })),
      ...(isCut && { finish: "length" }),
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
  error: (status, message) => ({ error: { message, type: "error", code: status === 429 ? "rate_limit_exceeded" : null } }),
  overflow: {
    status: 400,
    message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  },
});

/** Every protocol that a model can be asked by. */
export const providerWires = {
  openai: chat({ name: "gpt-4o" }, "/v1", /\/v1\/chat\/completions$/),
  azure: chat({ apiType: "azure", name: "my-gpt-4o" }, "/openai/deployments/my-gpt-4o", /\/openai\/deployments\/my-gpt-4o\/chat\/completions$/),
  responses,
  anthropic,
  google,
  bedrock,
} as const;
