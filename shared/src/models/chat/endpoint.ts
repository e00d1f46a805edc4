import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ModelConfig } from "../config.ts";

/** An endpoint for chat completions. Errors are the SDK's; nothing is retried here. */
export interface Endpoint {
  /**
   * Sends a request and yields the raw chunks of its answer, or the whole answer as one chunk.
   * Aborting the signal closes the connection.
   */
  open(params: ChatCompletionCreateParams, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

/** The endpoint a configuration names. Reads nothing from the environment. */
export function createEndpoint(config: ModelConfig, fetch: typeof globalThis.fetch): Endpoint {
  // The SDK is a quarter of a server's modules, and needed only for its first task.
  let client: Promise<OpenAI> | undefined;
  return {
    async open(params, signal) {
      client ??= createClient(config, fetch);
      const { chat } = await client;
      if (params.stream !== true) return only(await chat.completions.create(params, { signal }));
      const { data, response } = await chat.completions.create(params, { signal }).withResponse();
      const type = response.headers.get("content-type") ?? "";
      if (type.includes("text/event-stream")) return data;
      // A server without streaming answers with the whole completion, sometimes without a content
      // type that says so.
      const text = await response.text();
      if (text.trimStart().startsWith("{")) return only(JSON.parse(text));
      const { Stream } = await import("openai/streaming");
      return Stream.fromSSEResponse(new Response(text), new AbortController());
    },
  };
}

async function createClient(config: ModelConfig, fetch: typeof globalThis.fetch): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI } = await import("openai");
  const options = {
    apiKey: config.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    // The watchdog decides when to give up; this only limits requests it has abandoned.
    timeout: config.firstDeltaTimeoutMs + 1000,
    logLevel: "off",
    fetch,
  } as const;
  if (config.apiType === "azure") {
    return new AzureOpenAI({ ...options, baseURL: azureBase(config.baseUrl), apiVersion: config.apiVersion });
  }
  const defaultHeaders = config.apiKey === undefined ? { Authorization: null } : {};
  return new OpenAI({ ...options, baseURL: config.baseUrl, defaultHeaders });
}

/**
 * Accepts both the deployment's whole path, as in OpenManus's files, and the resource's address, as
 * in the portal.
 */
function azureBase(url: string): string {
  return new URL(url).pathname.includes("/openai") ? url : `${url.replace(/\/+$/, "")}/openai`;
}

async function* only(completion: unknown): AsyncGenerator<unknown> {
  yield completion;
}
