import { askedAt } from "manyhands/internal/runs/asked-at";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import type { RunRoutesDeps } from "./run-routes.ts";

const textSchema = z.object({ type: z.literal("text"), text: z.string() });
const imageSchema = z.object({
  type: z.literal("image"),
  mediaType: z.string(),
  sha256: z.string().describe("The content, as `/artifacts` has it if the run stored it."),
  size: z.int(),
});
const callSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });

const messageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), text: z.string() }),
  z.object({ role: z.literal("user"), parts: z.array(z.discriminatedUnion("type", [textSchema, imageSchema])) }),
  z.object({
    role: z.literal("assistant"),
    text: z.string(),
    toolCalls: z.array(callSchema),
    carried: z.json().exactOptional().describe("What the provider wants back, in its own form."),
  }),
  z.object({
    role: z.literal("tool"),
    callId: z.string(),
    name: z.string(),
    text: z.string(),
    isError: z.boolean(),
    images: z.array(imageSchema).exactOptional(),
  }),
]);

const requestSchema = z
  .object({
    messages: z.array(messageSchema),
    tools: z.array(z.object({ name: z.string(), description: z.string(), inputSchema: z.json() })),
    toolChoice: z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })]),
    maxOutputTokens: z.int().exactOptional(),
    temperature: z.number().exactOptional(),
    answerSchema: z.json().exactOptional(),
  })
  .meta({ id: "ModelRequest", description: "What a model was asked, before it is put into the provider's form." });

/** `/runs/{id}/events/{seq}/request` */
export function requestRoute({ runs, engine }: Pick<RunRoutesDeps, "runs" | "engine">): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/events/{seq}/request",
    tag: "runs",
    summary: "What the model was asked in the call that an event reports, in full",
    description:
      "For events that have `request`: every answer of a model, whoever asked for it. It is kept as long as the run's journal (`retention.journals`).",
    request: { params: z.object({ id: z.string().min(1).max(200), seq: z.coerce.number().int().min(1) }) },
    answers: { 200: { description: "The request.", body: requestSchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id, seq } }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    return c.json(await askedAt(engine, run.id, seq));
  });
}
