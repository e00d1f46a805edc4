import * as z from "zod";
import type { ModelSettings } from "../../settings/model-settings.ts";
import { tryModel } from "../../settings/try-model.ts";
import type { RestEndpoint } from "../endpoint.ts";
import { httpUrl } from "../http-url.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

const sourced = z.object({ value: z.string(), source: z.string().describe("A variable, or a line of the file.") });

const modelSettingsSchema = z
  .object({
    file: z.string().describe("The settings file; it may not be there yet."),
    model: sourced.exactOptional(),
    baseUrl: sourced,
    apiKey: z.object({ source: z.string() }).exactOptional().describe("Where a key is set; never the key."),
    restartNeeded: z.boolean().describe("Whether running servers use something else until they are restarted."),
  })
  .meta({ id: "ModelSettings" });

const changeSchema = z.strictObject({
  model: z.string().trim().min(1).max(200).exactOptional().describe("The model's name at its provider."),
  baseUrl: httpUrl.max(2000).exactOptional().describe("The endpoint, up to and including `/v1` or its equivalent."),
  apiKey: z
    .string()
    .trim()
    .min(1)
    .max(4000)
    .nullable()
    .exactOptional()
    .describe("The key; `null` if none is needed. Left out: the stored one, at the server it was stored for."),
});

const trialSchema = z
  .object({
    ok: z.boolean(),
    model: z.string(),
    endpoint: z.string(),
    found: z.enum(["yes", "no", "unknown"]).describe("Whether the endpoint lists the model."),
    streaming: z.boolean().describe("Whether the answer came in pieces."),
    tools: z.enum(["native", "text", "no"]).describe("How it called the tool it was asked to call."),
    firstMs: z.int().exactOptional().describe("Milliseconds to the first piece of the answer."),
    totalMs: z.int().exactOptional(),
    error: z.string().exactOptional(),
  })
  .meta({ id: "ModelTrial" });

/** `/settings/model` and `/settings/model/test`. */
export function modelSettingsRoutes(model: ModelSettings): RestEndpoint[] {
  const view = { description: "The settings of the model.", body: modelSettingsSchema };
  const show = {
    method: "get",
    path: "/settings/model",
    summary: "The default model, its endpoint, and where both are set",
    request: {},
    answers: { 200: view },
    problems: [],
  } as const;
  const save = {
    method: "post",
    path: "/settings/model",
    summary: "Writes model, endpoint and key to the settings file",
    description: "What is left out stays as it is. Running servers use it once they are restarted.",
    request: { body: changeSchema },
    answers: { 200: view },
    problems: [409],
  } as const;
  const test = {
    method: "post",
    path: "/settings/model/test",
    summary: "Sends one real request to a model, which need not be saved",
    request: { body: changeSchema },
    answers: { 200: { description: "What the request showed; a failure too.", body: trialSchema } },
    problems: [],
  } as const;
  return [
    operatorEndpoint(show, async (_, c) => c.json(await model.view())),
    operatorEndpoint(save, async ({ body }, c) => {
      await model.save(body);
      return c.json(await model.view());
    }),
    operatorEndpoint(test, async ({ body }, c) =>
      c.json(await tryModel(await model.candidate(body), c.req.raw.signal)),
    ),
  ];
}
