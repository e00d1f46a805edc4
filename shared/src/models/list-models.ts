import * as z from "zod";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";
import type { ModelConfig } from "./config.ts";
import { isAzure } from "./identity.ts";

const tokens = z.number().optional().catch(undefined);

const openAiModel = z.looseObject({
  id: z.string(),
  // Each is one server's word for the tokens that it keeps: vLLM's, OpenRouter's, LM Studio's,
  // Anthropic's.
  max_model_len: tokens,
  context_length: tokens,
  loaded_context_length: tokens,
  max_input_tokens: tokens,
  meta: z.looseObject({ n_ctx: tokens }).optional().catch(undefined),
});
const openAiList = z.looseObject({ data: z.array(openAiModel) }).transform(({ data }) =>
  data.map((model) => ({
    id: model.id,
    window:
      model.loaded_context_length ??
      model.max_model_len ??
      model.meta?.n_ctx ??
      model.context_length ??
      model.max_input_tokens,
  })),
);
const googleList = z
  .looseObject({ models: z.array(z.looseObject({ name: z.string(), inputTokenLimit: tokens })) })
  .transform(({ models }) =>
    models.map(({ name, inputTokenLimit }) => ({ id: name.replace(/^models\//, ""), window: inputTokenLimit })),
  );

/** A model that an endpoint lists, and the window it keeps, if it says so. */
export type ListedModel = { readonly id: string; readonly window: number | undefined };

/**
 * What an endpoint answers when asked for its models; a list that cannot be read counts as missing.
 */
export type ModelList = { readonly status: number; readonly models?: readonly ListedModel[] };

/**
 * The models of a configuration's endpoint; undefined where none can be asked for. Rejects if the
 * endpoint cannot be reached. The key goes to that endpoint alone.
 */
export async function listModels(config: ModelConfig, signal: AbortSignal): Promise<ModelList | undefined> {
  const { apiType, baseUrl } = config;
  if (apiType === "azure" || apiType === "aws" || (config.apiKey === undefined && isAzure(baseUrl))) return undefined;
  const size = { anthropic: "?limit=1000", google: "?pageSize=1000" }[apiType as string] ?? "";
  const response = await fetch(`${withoutLastSlashes(baseUrl)}/models${size}`, {
    headers: keyOf(config),
    signal,
  });
  if (!response.ok) return { status: response.status };
  const list = (apiType === "google" ? googleList : openAiList).safeParse(await response.json().catch(() => undefined));
  return { status: response.status, ...(list.success && { models: list.data }) };
}

function keyOf({ apiType, apiKey }: ModelConfig): Record<string, string> {
  if (apiType === "anthropic") return { "anthropic-version": "2023-06-01", ...(apiKey && { "x-api-key": apiKey }) };
  if (apiKey === undefined) return {};
  return apiType === "google" ? { "x-goog-api-key": apiKey } : { Authorization: `Bearer ${apiKey}` };
}
