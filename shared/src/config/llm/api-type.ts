import { AppError } from "../../core/errors.ts";
import { traitsOf } from "../../models/capabilities.ts";
import type { ModelConfig } from "../../models/config.ts";
import type { LlmProfile } from "../sections/llm-section.ts";

type ApiType = ModelConfig["apiType"];

/** The names that settings may use, OpenManus's among them; any other means OpenAI's protocol. */
export const apiTypes: Readonly<Record<string, ApiType>> = {
  openai: "openai",
  ollama: "openai",
  azure: "azure",
  responses: "responses",
  anthropic: "anthropic",
  google: "google",
  gemini: "google",
  aws: "aws",
  bedrock: "aws",
};

/** The protocols with an address of their own, besides OpenAI's. */
const addresses: Readonly<Partial<Record<ApiType, string>>> = {
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

/** Where a model is, and the protocol that is spoken there. */
export type ModelAddress = Pick<ModelConfig, "apiType"> & {
  readonly baseUrl: string | undefined;
  readonly region: string | undefined;
};

/**
 * The place that a model's table names. Without `api_type`, the address and the model's name say
 * which protocol it is. Throws `config_invalid` for Bedrock without a region.
 */
export function modelAddress(profile: LlmProfile): ModelAddress {
  const apiType = apiTypeOf(profile);
  const { base_url: baseUrl = addresses[apiType], region } = profile;
  if (apiType === "aws") return bedrockAddress(profile);
  const host = baseUrl === undefined ? undefined : new URL(baseUrl);
  if (apiType === "anthropic" && host?.pathname === "/") return { apiType, baseUrl: `${host.origin}/v1`, region };
  // Its OpenAI-compatible endpoint, given by the host alone.
  if (host !== undefined && isBedrock(host) && host.pathname === "/")
    return { apiType, baseUrl: `${host.origin}/openai/v1`, region };
  return { apiType, baseUrl, region };
}

/** The protocol of a model's table. */
export function apiTypeOf({ api_type: named, base_url: address, api_key: key, model = "" }: LlmProfile): ApiType {
  const url = address === undefined ? undefined : new URL(address);
  const isCompatible = url?.pathname.includes("/openai") === true;
  if (named !== undefined) {
    const type = apiTypes[named] ?? "openai";
    return type === "aws" && isCompatible ? "openai" : type;
  }
  const host = url?.hostname ?? "api.openai.com";
  if (host === "api.anthropic.com") return "anthropic";
  if (host === "generativelanguage.googleapis.com" && !isCompatible) return "google";
  if (/\.(openai|cognitiveservices)\.azure\.(com|us|cn)$/.test(host) && !isCompatible) return "azure";
  if (url !== undefined && isBedrock(url) && key === undefined && !isCompatible) return "aws";
  const isOpenAi = host === "api.openai.com";
  return isOpenAi && traitsOf({ name: model, capabilities: {} }).responses ? "responses" : "openai";
}

function isBedrock({ hostname }: URL): boolean {
  return /^bedrock-runtime(-fips)?\.[a-z\d-]+\.(amazonaws\.com|api\.aws)/i.test(hostname);
}

function bedrockAddress({ base_url: address, region: named, model }: LlmProfile): ModelAddress {
  const host = address === undefined ? undefined : new URL(address);
  const region = named ?? /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z\d-]+)\./i.exec(host?.hostname ?? "")?.[1];
  if (region === undefined)
    throw new AppError(
      "config_invalid",
      `The model ${model ?? "of [llm]"} at Bedrock needs its region: \`region = "us-east-1"\`, or \`base_url = "bedrock-runtime.us-east-1.amazonaws.com"\`.`,
    );
  return { apiType: "aws", baseUrl: address ?? `https://bedrock-runtime.${region}.amazonaws.com`, region };
}
