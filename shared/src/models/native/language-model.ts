import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelConfig } from "../config.ts";
import { isAzure, withEntra } from "../entra.ts";

/** The protocols besides OpenAI's chat completions. */
export type NativeType = Exclude<ModelConfig["apiType"], "openai" | "azure">;

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
): Promise<LanguageModelV4> {
  const { name, apiKey = noKey, baseUrl: baseURL } = config;
  switch (apiType) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL, fetch: mayCall ? fetch : forbiddingCalls(fetch) })(name);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle({ apiKey, baseURL, fetch })(name);
    }
    case "responses": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const usesEntra = config.apiKey === undefined && isAzure(baseURL);
      return createOpenAI({ apiKey, baseURL, fetch: usesEntra ? withEntra(baseURL, fetch) : fetch }).responses(name);
    }
    case "aws":
      return openBedrock(config, fetch);
  }
}

/** Files such as OpenManus's have a word where a Bedrock API key could stand; real ones are longer. */
const shortestBedrockKey = 20;

async function openBedrock({ name, apiKey = "", baseUrl, region }: ModelConfig, fetch: typeof globalThis.fetch) {
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  const common = { baseURL: baseUrl, fetch, ...(region !== undefined && { region }) };
  if (apiKey.length >= shortestBedrockKey) return createAmazonBedrock({ ...common, apiKey })(name);
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  const find = defaultProvider(region === undefined ? {} : { clientConfig: { region } });
  const credentialProvider = async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = await find();
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  };
  return createAmazonBedrock({ ...common, credentialProvider })(name);
}

/** The SDK leaves the tools out instead, with which Anthropic refuses a conversation that has calls. */
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
