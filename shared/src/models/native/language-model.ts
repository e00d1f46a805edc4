import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelConfig } from "../config.ts";
import { awsCredentials, bedrockKey, isAzure, withEntra } from "../identity.ts";

/** The protocols besides OpenAI's chat completions. */
export type NativeType = Exclude<ModelConfig["apiType"], "openai" | "azure">;

/**
 * A model, and what finds out who calls it: before a question, since the SDK hides why nobody does.
 */
export type OpenedModel = { readonly model: LanguageModelV4; identify?(): Promise<unknown> };

/** Stands for a key where an SDK insists on one. */
const noKey = "none";

/**
 * The model as its provider's SDK offers it. Loads only that SDK; sends nothing. With `mayCall`
 * false, it is not to call the tools it is told of, where the protocol can say so.
 */
export async function openLanguageModel(
  apiType: NativeType,
  config: ModelConfig,
  fetch: typeof globalThis.fetch,
  mayCall: boolean,
): Promise<OpenedModel> {
  const { name, apiKey = noKey, baseUrl: baseURL } = config;
  switch (apiType) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return { model: createAnthropic({ apiKey, baseURL, fetch: mayCall ? fetch : forbiddingCalls(fetch) })(name) };
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return { model: createGoogle({ apiKey, baseURL, fetch })(name) };
    }
    case "responses": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const usesEntra = config.apiKey === undefined && isAzure(baseURL);
      const signed = usesEntra ? withEntra(baseURL, fetch) : fetch;
      return { model: createOpenAI({ apiKey, baseURL, fetch: signed }).responses(name) };
    }
    case "aws":
      return openBedrock(config, fetch);
  }
}

async function openBedrock(config: ModelConfig, fetch: typeof globalThis.fetch): Promise<OpenedModel> {
  const { name, baseUrl: baseURL, region } = config;
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  const common = { baseURL, fetch, ...(region !== undefined && { region }) };
  const apiKey = bedrockKey(config);
  if (apiKey !== undefined) return { model: createAmazonBedrock({ ...common, apiKey })(name) };
  const credentialProvider = awsCredentials(region);
  return { model: createAmazonBedrock({ ...common, credentialProvider })(name), identify: credentialProvider };
}

/**
 * The SDK leaves the tools out instead, with which Anthropic refuses a conversation that has calls.
 */
function forbiddingCalls(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const forbidding = (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const body = JSON.parse(String(init?.body));
    return fetch(input, {
      ...init,
      body: JSON.stringify(body.tools === undefined ? body : { ...body, tool_choice: { type: "none" } }),
    });
  };
  return forbidding as typeof globalThis.fetch;
}
