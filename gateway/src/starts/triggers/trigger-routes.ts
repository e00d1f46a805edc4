import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../../rest/endpoint.ts";
import { firingSchema, firingView, startShape } from "../start-schemas.ts";
import { webhookPath } from "./trigger-app.ts";
import type { Trigger, Triggers } from "./triggers.ts";

/** What the routes of triggers need. */
export type TriggerRoutesDeps = { readonly triggers: Triggers; readonly publicUrl: string };

const triggerSchema = z
  .object({
    name: z.string(),
    type: z.enum(["github", "gitlab", "slack", "standard", "hmac"]),
    url: z.string().describe("Where its sender posts to."),
    ...startShape,
    events: z.array(z.string()).describe("The events that count; all if empty."),
    notify: z.array(z.string()),
    paused: z.boolean(),
    firings: z.array(firingSchema).describe("The last webhooks that started something or could not, the newest first."),
  })
  .meta({ id: "Trigger", description: "A webhook of the settings that starts a flow or an agent." });

const params = z.object({ name: z.string().min(1).max(200) });

/** `/triggers` and the routes below it. */
export function triggerRoutes({ triggers, publicUrl }: TriggerRoutesDeps): RestEndpoint[] {
  const view = ({ settings, budget, firings, principal: _, ...trigger }: Trigger) => ({
    ...trigger,
    url: `${withoutLastSlashes(publicUrl)}${webhookPath}/${trigger.name}`,
    ...settings,
    ...(budget && { budget }),
    firings: firings.map(firingView),
  });
  const list = {
    method: "get",
    path: "/triggers",
    tag: "triggers",
    summary: "Your triggers: webhooks of the settings that start a flow or an agent",
    request: {},
    answers: { 200: { description: "The triggers.", body: z.object({ triggers: z.array(triggerSchema) }) } },
    problems: [],
  } as const;
  const byName = (
    method: "get" | "post",
    below: string,
    summary: string,
    act: (name: string, principal: string) => Promise<Trigger>,
  ): RestEndpoint => {
    const answers = { 200: { description: "The trigger.", body: triggerSchema } };
    const path = `/triggers/{name}${below}`;
    const about = { method, path, tag: "triggers", summary, request: { params }, answers, problems: [404] };
    return endpoint(about, async ({ params: { name } }, c) => c.json(view(await act(name, c.get("caller").principal))));
  };
  return [
    endpoint(list, async (_, c) => c.json({ triggers: (await triggers.list(c.get("caller").principal)).map(view) })),
    byName("get", "", "A trigger, with what its last webhooks started", triggers.get),
    byName("post", "/pause", "Pauses a trigger: its webhooks start nothing", triggers.pause),
    byName("post", "/resume", "Resumes a trigger", triggers.resume),
  ];
}
