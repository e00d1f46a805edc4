import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { lazily } from "../../core/async/lazy.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import type { ModelConfig } from "../config.ts";
import { isAzure, withEntra } from "../identity.ts";
import { readStream } from "./read-stream.ts";

/** A request: its parameters or, where nobody reads them on the way, their JSON. */
export type EndpointRequest = { readonly body: ChatCompletionCreateParams | string; readonly stream: boolean };

/** An endpoint for chat completions. Errors are the SDK's; nothing is retried here. */
export interface Endpoint {
  /**
   * Sends a request and yields the raw chunks of its answer, those that arrived together at once;
   * the whole answer is one chunk. Aborting the signal closes the connection.
   */
  open(request: EndpointRequest, signal: AbortSignal): Promise<AsyncIterable<readonly unknown[]>>;
}

/** The endpoint a configuration names. Reads nothing from the environment. */
export function createEndpoint(config: ModelConfig, fetch: typeof globalThis.fetch): Endpoint {
  // The SDK is a quarter of a server's modules, and needed only for its first task.
  const client = lazily(() => createClient(config, fetch));
  return {
    async open({ body, stream }, signal) {
      const headers = { "content-type": "application/json" };
      const response = await (await client.get()).post("/chat/completions", { body, headers, signal }).asResponse();
      const type = response.headers.get("content-type") ?? "";
      if (stream && type.includes("text/event-stream")) return readStream(response);
      // A server without streaming answers with the whole completion, sometimes without a content
      // type that says so.
      const text = await response.text();
      return text.trimStart().startsWith("{") ? only(JSON.parse(text)) : readStream(new Response(text));
    },
  };
}

/** A client of the endpoint that a configuration names. */
export async function createClient(config: ModelConfig, fetch: typeof globalThis.fetch): Promise<OpenAI> {
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
    const azure = { ...options, baseURL: azureBase(config.baseUrl), apiVersion: config.apiVersion };
    if (config.apiKey !== undefined) return new AzureOpenAI(azure);
    return new AzureOpenAI({ ...azure, fetch: withEntra(config.baseUrl, fetch) });
  }
  if (config.apiKey === undefined && isAzure(config.baseUrl))
    return new OpenAI({ ...options, baseURL: config.baseUrl, fetch: withEntra(config.baseUrl, fetch) });
  const defaultHeaders = config.apiKey === undefined ? { Authorization: null } : {};
  return new OpenAI({ ...options, baseURL: config.baseUrl, defaultHeaders });
}

/**
 * Accepts both the deployment's whole path, as in OpenManus's files, and the resource's address, as
 * in the portal.
 */
function azureBase(url: string): string {
  return new URL(url).pathname.includes("/openai") ? url : `${withoutLastSlashes(url)}/openai`;
}

async function* only(completion: unknown): AsyncGenerator<readonly unknown[]> {
  yield [completion];
}
