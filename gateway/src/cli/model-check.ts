import type { ModelConfig } from "manyhands/internal/models/config";
import * as z from "zod";
import type { Check } from "./check.ts";

const timeoutMs = 8000;
const modelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** Whether the configured model's endpoint answers, knows the key and has the model. Never shows the key. */
export async function checkModel(model: ModelConfig | undefined): Promise<Check> {
  const name = "model";
  if (model === undefined)
    return {
      name,
      state: "warn",
      text: "none configured: the rehearsal model answers, which knows only the demo. Set OPENAI_API_KEY and MANYHANDS_MODEL (and OPENAI_BASE_URL for another endpoint).",
    };
  const where = `${model.name} at ${new URL(model.baseUrl).host}`;
  if (model.apiType === "azure") return { name, state: "ok", text: `${where} (Azure: not tried)` };
  const headers: Record<string, string> = model.apiKey === undefined ? {} : { Authorization: `Bearer ${model.apiKey}` };
  try {
    const url = `${model.baseUrl.replace(/\/+$/, "")}/models`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 401 || response.status === 403)
      return { name, state: "fail", text: `${where} refuses the key (HTTP ${response.status}). Check OPENAI_API_KEY.` };
    if (!response.ok)
      return { name, state: "warn", text: `${where} answers, but lists no models (HTTP ${response.status})` };
    const list = modelList.safeParse(await response.json());
    if (list.success && list.data.data.every(({ id }) => id !== model.name))
      return {
        name,
        state: "warn",
        text: `${where}: the endpoint does not list ${model.name}. Check MANYHANDS_MODEL.`,
      };
    return { name, state: "ok", text: where };
  } catch {
    return { name, state: "fail", text: `${where} cannot be reached. Check OPENAI_BASE_URL and the network.` };
  }
}
