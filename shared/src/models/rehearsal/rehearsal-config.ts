import { type ModelConfig, modelConfigSchema } from "../config.ts";

/** The rehearsal model's name in requests, and wherever the model in use is shown. */
export const rehearsalModelName = "rehearsal";

/** The configuration of a rehearsal model at `url`. Its price is known to be zero. */
export function rehearsalConfig(url: string): ModelConfig {
  return modelConfigSchema.parse({
    name: rehearsalModelName,
    provider: rehearsalModelName,
    baseUrl: url,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
  });
}
