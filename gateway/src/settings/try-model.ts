import { AppError } from "manyhands/internal/core/errors";
import { jsonOf } from "manyhands/internal/core/json";
import type { ModelReply, ModelRequest } from "manyhands/internal/core/model";
import type { ModelConfig } from "manyhands/internal/models/config";
import { createModel } from "manyhands/internal/models/create-model";
import { listModels } from "manyhands/internal/models/list-models";

/** What one real request to a model showed. Times in milliseconds. */
export type ModelTrial = {
  readonly ok: boolean;
  readonly model: string;
  /** The endpoint's host. */
  readonly endpoint: string;
  /** Whether the endpoint lists the model; `unknown` if it lists none. */
  readonly found: "yes" | "no" | "unknown";
  /** Whether the answer came in pieces. */
  readonly streaming: boolean;
  /**
   * `native`: it called a tool as the protocol has it; `text`: as text in its answer; `no`: it
   * answered without the call it was asked for.
   */
  readonly tools: "native" | "text" | "no";
  readonly firstMs?: number;
  readonly totalMs?: number;
  /** Why it failed. */
  readonly error?: string;
};

const tryMs = 60_000;
const listMs = 8_000;

const request: ModelRequest = {
  messages: [
    {
      role: "user",
      parts: [{ type: "text", text: "Call the tool report_ready with the word ready. Write nothing else." }],
    },
  ],
  tools: [
    {
      name: "report_ready",
      description: "Reports that you are ready.",
      inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    },
  ],
  toolChoice: "auto",
  maxOutputTokens: 1_000,
};

/**
 * Sends one request with a tool to a model, and looks at how the answer comes; a minute at most. A
 * failure is part of the result, in the endpoint's own words.
 */
export async function tryModel(config: ModelConfig, signal: AbortSignal): Promise<ModelTrial> {
  const seen = { streamed: false, sentTools: false };
  const watching = async (address: unknown, init?: RequestInit) => {
    const response = await fetch(String(address), init);
    if (response.ok) {
      seen.streamed = /event-?stream/.test(response.headers.get("content-type") ?? "");
      const body = typeof init?.body === "string" ? jsonOf(init.body) : undefined;
      seen.sentTools = typeof body === "object" && body !== null && ("tools" in body || "toolConfig" in body);
    }
    return response;
  };
  const until = AbortSignal.any([signal, AbortSignal.timeout(tryMs)]);
  const about = { model: config.name, endpoint: new URL(config.baseUrl).host };
  const found = await isListed(config, until);
  const startedAt = performance.now();
  const since = () => Math.round(performance.now() - startedAt);
  let firstMs: number | undefined;
  let reply: ModelReply | undefined;
  try {
    const once = { ...config, maxRetries: 0, firstDeltaTimeoutMs: tryMs, fallback: undefined };
    const candidate = createModel(once, { fetch: watching as typeof fetch });
    for await (const event of candidate.ask(request, { signal: until })) {
      firstMs ??= since();
      if (event.type === "reply") reply = event.reply;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) && !until.aborted) throw error;
    const why = error instanceof AppError ? error.message : `no answer within ${tryMs / 1000} seconds.`;
    return { ok: false, ...about, found, streaming: false, tools: "no", error: why };
  }
  const called = reply?.toolCalls.some(({ name }) => name === "report_ready") === true;
  const tools = called ? (seen.sentTools ? "native" : "text") : "no";
  return {
    ok: true,
    ...about,
    found,
    streaming: seen.streamed,
    tools,
    ...(firstMs !== undefined && { firstMs }),
    totalMs: since(),
  };
}

/** Whether the endpoint's list of models has this one. */
async function isListed(config: ModelConfig, signal: AbortSignal): Promise<ModelTrial["found"]> {
  try {
    const list = await listModels(config, AbortSignal.any([signal, AbortSignal.timeout(listMs)]));
    if (list?.models === undefined || list.models.length === 0) return "unknown";
    return list.models.some(({ id }) => id === config.name) ? "yes" : "no";
  } catch {
    return "unknown";
  }
}
