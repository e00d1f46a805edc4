import type { RoleConfigs } from "../config/llm/models.ts";
import { lazily } from "../core/async/lazy.ts";
import type { Model } from "../core/model.ts";
import type { ModelConfig } from "../models/config.ts";
import { createModel, type ModelOptions } from "../models/create-model.ts";
import type { ShrinkImage } from "../models/images.ts";
import { rehearsalConfig } from "../models/rehearsal/rehearsal-config.ts";
import { withVision } from "../models/with-vision.ts";

/** Stands for the rehearsal model's address until it is started. */
const unstarted = "http://rehearsal.invalid/v1";

/**
 * The configured model, or else the rehearsal model, which is started on a free loopback port when
 * it is first asked; `roles` do parts of its work. The caller closes it.
 */
export async function openModel(
  config: ModelConfig | undefined,
  deps: ModelOptions,
  roles: RoleConfigs = {},
): Promise<{ readonly model: Model; close(): Promise<void> }> {
  const shrinkImage: ShrinkImage = async (content, size, signal) => {
    const { showImage } = await import("../tools/files/shown-image.ts");
    return showImage(content, signal, size);
  };
  const all = { shrinkImage, ...deps };
  if (config !== undefined)
    return { model: withRoles(createModel(config, all), roles, all), close: async () => undefined };
  const started = lazily(async () => {
    const { startRehearsalModel } = await import("../models/rehearsal/start-rehearsal-model.ts");
    return startRehearsalModel();
  });
  const reach = async (address: unknown, init?: RequestInit) =>
    fetch(String(address).replace(unstarted, (await started.get()).url), init);
  return {
    model: createModel(rehearsalConfig(unstarted), { ...all, fetch: reach as typeof fetch }),
    close: async () => (await started.made())?.close(),
  };
}

function withRoles(model: Model, { vision, summary, extract }: RoleConfigs, deps: ModelOptions): Model {
  const seeing = withVision(model, vision && createModel(vision, deps));
  if (summary === undefined && extract === undefined) return seeing;
  return {
    ...seeing,
    roles: {
      ...(summary && { summary: createModel(summary, deps) }),
      ...(extract && { extract: createModel(extract, deps) }),
    },
  };
}
