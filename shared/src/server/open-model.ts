import type { Model } from "../core/model.ts";
import type { ModelConfig } from "../models/config.ts";
import { createModel, type ModelOptions } from "../models/create-model.ts";
import type { ShrinkImage } from "../models/images.ts";
import { showImage } from "../tools/files/shown-image.ts";

/**
 * The configured model, or else the rehearsal model on a free loopback port. The caller closes it.
 */
export async function openModel(
  config: ModelConfig | undefined,
  deps: ModelOptions,
): Promise<{ readonly model: Model; close(): Promise<void> }> {
  const shrinkImage: ShrinkImage = (content, size, signal) => showImage(content, signal, size);
  const all = { shrinkImage, ...deps };
  if (config !== undefined) return { model: createModel(config, all), close: async () => undefined };
  const { rehearsalConfig, startRehearsalModel } = await import("../models/rehearsal/start-rehearsal-model.ts");
  const rehearsal = await startRehearsalModel();
  return { model: createModel(rehearsalConfig(rehearsal.url), all), close: () => rehearsal.close() };
}
