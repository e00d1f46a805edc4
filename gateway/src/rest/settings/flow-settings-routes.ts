import { flowSettings as settingsSchema } from "manyhands/internal/core/runs/task";
import * as z from "zod";
import type { FlowSettings } from "../../settings/flow-settings.ts";
import type { RestEndpoint } from "../endpoint.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

const compositionSchema = z.strictObject({
  flow: z.string().min(1).max(60).describe("The flow it is made of."),
  title: z.string().trim().min(1).max(100).exactOptional(),
  description: z.string().trim().min(1).max(1000).exactOptional(),
  ...settingsSchema.shape,
});
const params = z.object({ name: z.string().min(1).max(60) });

const listSchema = z.object({ flows: z.array(z.object({ name: z.string(), ...compositionSchema.shape })) });
const listed = { description: "The composed flows.", body: listSchema };

/** `/settings/flows` and the routes below it. */
export function flowSettingsRoutes(flows: FlowSettings): RestEndpoint[] {
  const list = {
    method: "get",
    path: "/settings/flows",
    summary: "The flows that the settings compose of others",
    request: {},
    answers: { 200: listed },
    problems: [],
  } as const;
  const check = {
    method: "post",
    path: "/settings/flows/{name}/check",
    summary: "Checks a composed flow without saving it",
    request: { params, body: compositionSchema },
    answers: {
      200: {
        description: "Why it cannot be saved, if so, and the names in it that are not here.",
        body: z.object({ problem: z.string().exactOptional(), unknownAgents: z.array(z.string()) }),
      },
    },
    problems: [],
  } as const;
  const save = {
    method: "post",
    path: "/settings/flows/{name}",
    summary: "Saves a composed flow as [flows.NAME] in the settings file",
    description: "New tasks can use it at once; those under way go on as they began.",
    request: { params, body: compositionSchema },
    answers: { 200: listed },
    problems: [409],
  } as const;
  const remove = {
    method: "delete",
    path: "/settings/flows/{name}",
    summary: "Removes a composed flow",
    request: { params },
    answers: { 204: { description: "Removed; its runs stay." } },
    problems: [404, 409],
  } as const;
  return [
    operatorEndpoint(list, async (_, c) => c.json({ flows: await flows.list() })),
    operatorEndpoint(check, async ({ params, body }, c) => c.json(await flows.check(params.name, body))),
    operatorEndpoint(save, async ({ params, body }, c) => {
      await flows.save(params.name, body);
      return c.json({ flows: await flows.list() });
    }),
    operatorEndpoint(remove, async ({ params }, c) => {
      await flows.remove(params.name);
      return c.body(null, 204);
    }),
  ];
}
