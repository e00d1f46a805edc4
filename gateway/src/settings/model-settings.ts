import type { Config } from "manyhands/internal/config/config";
import { modelAddress } from "manyhands/internal/config/llm/api-type";
import { defaultModel } from "manyhands/internal/config/llm/models";
import type { LlmProfile } from "manyhands/internal/config/sections/llm-section";
import { withoutLogins } from "manyhands/internal/config/settings/redact";
import type { Settings } from "manyhands/internal/config/settings/settings";
import { AppError } from "manyhands/internal/core/errors";
import type { ModelConfig } from "manyhands/internal/models/config";
import { refuseOverridden } from "./overridden.ts";
import type { SettingsFile } from "./settings-file.ts";
import { withKeys } from "./toml-text.ts";

/**
 * Which model to use. What is left out stays as it is; the key `null` means that none is needed.
 */
export type ModelChange = {
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | null | undefined;
};

/** One value of the settings and where it was set: a variable, or a line of the file. */
type Sourced = { readonly value: string; readonly source: string };

/** `[llm]` for people; of the key only where it is set. */
export type ModelSettingsView = {
  readonly file: string;
  readonly model?: Sourced;
  readonly baseUrl: Sourced;
  readonly apiKey?: { readonly source: string };
  /** Whether servers that run use something else. */
  readonly restartNeeded: boolean;
};

/** The default model of the settings. */
export interface ModelSettings {
  view(): Promise<ModelSettingsView>;
  /**
   * Writes it. Rejects with `conflict` for a value that a variable overrides, and with
   * `invalid_input` if the stored key would go to another endpoint than the one it was given for.
   */
  save(change: ModelChange): Promise<void>;
  /** The model with a change that is not saved, to try it. Rejects like `save`. */
  candidate(change: ModelChange): Promise<ModelConfig>;
}

const openAi = "https://api.openai.com/v1";

/** The default model in this file; `started` is what this process began with. */
export function modelSettings(file: SettingsFile, started: Pick<Config, "model">): ModelSettings {
  return {
    async view() {
      const settings = await file.read();
      const { model, base_url: baseUrl, api_key: apiKey } = settings.sections.llm;
      const sourceOf = (key: string) => settings.origins.get(`llm.${key}`) ?? "default";
      return {
        file: file.path,
        ...(model !== undefined && { model: { value: model, source: sourceOf("model") } }),
        baseUrl: { value: withoutLogins(baseUrl ?? addressOf(settings.sections.llm)), source: sourceOf("base_url") },
        ...(apiKey !== undefined && { apiKey: { source: sourceOf("api_key") } }),
        restartNeeded: !Bun.deepEquals(defaultModel(settings.sections.llm), started.model),
      };
    },
    async save(change) {
      const settings = await file.read();
      const keys = keysOf(settings, change);
      const { llm } = settings.sections;
      for (const [key, value] of Object.entries(keys)) {
        const isNamedByFile = key === "api_key" && llm.api_key_env !== undefined;
        refuseOverridden(settings, `llm.${key}`, value !== llm[key] && !isNamedByFile);
      }
      await file.change((text) => withKeys(text, "llm", keys));
    },
    async candidate(change) {
      const settings = await file.read();
      const { llm } = settings.sections;
      const keys = { ...llm, ...keysOf(settings, change), fallback: undefined };
      const model = defaultModel(keys as Settings["sections"]["llm"]);
      if (model !== undefined) return model;
      throw new AppError("invalid_input", "model: name a model, and the endpoint or the key it needs.");
    },
  };
}

/** The keys of `[llm]` that a change sets or, if `undefined`, removes. */
function keysOf({ sections: { llm } }: Settings, { model, baseUrl, apiKey }: ModelChange): Record<string, unknown> {
  const known = addressOf(llm);
  const isElsewhere = baseUrl !== undefined && baseUrl !== llm.base_url && baseUrl !== known;
  const isOther = isElsewhere || (model !== undefined && model !== llm.model);
  if (apiKey === undefined && llm.api_key !== undefined && isElsewhere && !isSameServer(baseUrl, known))
    throw new AppError(
      "invalid_input",
      `apiKey: the stored key is for ${new URL(known).origin}. Give the key of ${new URL(baseUrl).origin}, or null if it needs none.`,
    );
  return {
    ...(model !== undefined && { model }),
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(apiKey !== undefined && { api_key: apiKey ?? undefined, api_key_env: undefined }),
    // They describe the model that was.
    ...(isOther && { price: undefined, capabilities: undefined }),
    ...(isElsewhere && { provider: undefined, api_type: undefined, api_version: undefined, region: undefined }),
  };
}

/** Where the stored key goes. */
function addressOf(llm: Settings["sections"]["llm"]): string {
  return modelAddress(llm as LlmProfile).baseUrl ?? openAi;
}

function isSameServer(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}
