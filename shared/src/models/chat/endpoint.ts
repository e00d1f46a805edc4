import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ModelConfig } from "../config.ts";

/** Where chat completions are asked for. Errors are the SDK's; nothing is retried here. */
export interface Endpoint {
  /**
   * Sends a request; what comes are the raw chunks of its answer, or the whole answer as one.
   * Aborting the signal closes the connection.
   */
  open(params: ChatCompletionCreateParams, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

/** The endpoint a configuration names. Reads nothing from the environment. */
export function createEndpoint(config: ModelConfig, fetch: typeof globalThis.fetch): Endpoint {
  // A quarter of all modules a server is made of, and needed only once it has a task.
  let client: Promise<OpenAI> | undefined;
  return {
    async open(params, signal) {
      client ??= createClient(config, fetch);
      const { chat } = await client;
      if (params.stream !== true) return only(await chat.completions.create(params, { signal }));
      const { data, response } = await chat.completions.create(params, { signal }).withResponse();
      const type = response.headers.get("content-type") ?? "";
      if (type.includes("text/event-stream")) return data;
      // A server that does not know `stream` answers with the whole completion, and a simple one
      // does not say which it sends.
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
    // The watchdog is the one that gives up; this only bounds what it has abandoned.
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
 * OpenManus's files name the deployment's whole path; the portal shows the resource's address. Both
 * are taken.
 */
function azureBase(url: string): string {
  return new URL(url).pathname.includes("/openai") ? url : `${url.replace(/\/+$/, "")}/openai`;
}

async function* only(completion: unknown): AsyncGenerator<unknown> {
  yield completion;
}
