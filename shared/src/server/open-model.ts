import type { ModelConfig } from "../llm/config.ts";
import { createModel, type ModelDeps } from "../llm/create-model.ts";
import type { Model } from "../llm/model.ts";
import { rehearsalConfig, startRehearsalModel } from "../llm/rehearsal/start-rehearsal-model.ts";

/** The configured model, or the rehearsal model on a free loopback port where none is. The caller closes it. */
export async function openModel(
  config: ModelConfig | undefined,
  deps: ModelDeps,
): Promise<{ readonly model: Model; close(): Promise<void> }> {
  if (config !== undefined) return { model: createModel(config, deps), close: async () => undefined };
  const rehearsal = await startRehearsalModel();
  return { model: createModel(rehearsalConfig(rehearsal.url), deps), close: () => rehearsal.close() };
}
