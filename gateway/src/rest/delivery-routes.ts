import type { Deliveries, Delivery } from "manyhands/internal/a2a/push/deliveries";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "./endpoint.ts";

const deliverySchema = z
  .object({
    id: z.string(),
    taskId: z.string(),
    url: z.string().describe("Where the notifications go."),
    state: z.enum(["active", "delivered", "removed", "failed"]).describe("`failed`: its receiver was given up."),
    reason: z.string().exactOptional().describe("Why its receiver was given up."),
    after: z.number().int().describe("The last event of the task that its receiver was told."),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Delivery" });

const params = z.object({ id: z.string().min(1).max(200) });

/** `/deliveries` and the routes below it. */
export function deliveryRoutes(deliveries: Deliveries): RestEndpoint[] {
  return [listDeliveries(deliveries), getDelivery(deliveries), retryDelivery(deliveries)];
}

function listDeliveries(deliveries: Deliveries): RestEndpoint {
  const query = z.object({
    state: z.enum(["failed", "all"]).default("failed").describe("`failed`: given up in the last 30 days."),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  });
  const about = {
    method: "get",
    path: "/deliveries",
    tag: "deliveries",
    summary: "Notifications of your tasks whose receivers were given up, newest first",
    request: { query },
    answers: { 200: { description: "The deliveries.", body: z.object({ deliveries: z.array(deliverySchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, async ({ query: { state, limit } }, c) => {
    const found = await deliveries.list(c.get("caller").principal, { all: state === "all", limit });
    return c.json({ deliveries: found.map(deliveryView) });
  });
}

function getDelivery(deliveries: Deliveries): RestEndpoint {
  const about = {
    method: "get",
    path: "/deliveries/{id}",
    tag: "deliveries",
    summary: "The notifications of one receiver about one task",
    request: { params },
    answers: { 200: { description: "The delivery.", body: deliverySchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) =>
    c.json(deliveryView(await deliveries.get(id, c.get("caller").principal))),
  );
}

function retryDelivery(deliveries: Deliveries): RestEndpoint {
  const about = {
    method: "post",
    path: "/deliveries/{id}/retry",
    tag: "deliveries",
    summary: "Sends again what a receiver that was given up has missed",
    request: { params },
    answers: { 202: { description: "Stored; it is sent from now on.", body: deliverySchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) =>
    c.json(deliveryView(await deliveries.retry(id, c.get("caller").principal)), 202),
  );
}

function deliveryView({ updatedAt, ...delivery }: Delivery) {
  return { ...delivery, updatedAt: new Date(updatedAt).toISOString() };
}
