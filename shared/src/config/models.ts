import { AppError } from "../errors.ts";
import type { Sections } from "./sections.ts";

/** One model as `[llm]` describes it. */
export type ModelSettings = {
  readonly model: string;
  /** Undefined for OpenAI's own. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly apiType: "" | "openai" | "azure" | "aws" | "ollama" | undefined;
  readonly apiVersion: string | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly temperature: number | undefined;
};

type Profile = Exclude<Sections["llm"][string], string | number | undefined>;

/** The model a table describes; undefined when it names none. Throws `config_invalid` when nothing says where the model is. */
export function modelSettings(profile: Profile): ModelSettings | undefined {
  if (profile.model === undefined) return undefined;
  if (profile.api_key === undefined && profile.base_url === undefined)
    throw new AppError(
      "config_invalid",
      `The model ${profile.model} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that wants no key.`,
    );
  return {
    model: profile.model,
    baseUrl: profile.base_url,
    apiKey: profile.api_key,
    apiType: profile.api_type,
    apiVersion: profile.api_version,
    maxOutputTokens: profile.max_tokens,
    temperature: profile.temperature,
  };
}

/** The `[llm.NAME]` tables that describe a model, each over `[llm]`. */
export function modelsOf(llm: Sections["llm"]): Record<string, ModelSettings> {
  const models: Record<string, ModelSettings> = {};
  for (const [name, table] of Object.entries(llm)) {
    const settings = typeof table === "object" ? modelSettings({ ...baseProfile(llm), ...table }) : undefined;
    if (settings !== undefined) models[name] = settings;
  }
  return models;
}

/** The model an agent asks for: a table's name, or a model's name at the endpoint of `[llm]`. */
export function modelNamed(wanted: string, llm: Sections["llm"]): ModelSettings | undefined {
  const named = modelsOf(llm);
  return Object.hasOwn(named, wanted) ? named[wanted] : modelSettings({ ...baseProfile(llm), model: wanted });
}

/** `[llm]` without its named tables. */
function baseProfile(llm: Sections["llm"]): Profile {
  return Object.fromEntries(Object.entries(llm).filter(([, value]) => typeof value !== "object"));
}
