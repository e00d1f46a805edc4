import * as z from "zod";
import type { CliContext } from "../session/context.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { atGateway } from "./at-gateway.ts";

/** Options of every `deliveries` command. */
export type DeliveriesOptions = { readonly json?: boolean; readonly config?: string };

const delivery = z.looseObject({
  id: z.string(),
  taskId: z.string(),
  url: z.string(),
  state: z.string(),
  reason: z.string().optional(),
  updatedAt: z.string(),
});

/** Lists the notifications whose receivers were given up, or all of them. */
export async function listDeliveries(
  options: DeliveriesOptions & { readonly all?: boolean },
  context: CliContext,
): Promise<number> {
  return atGateway(options, context, async (call) => {
    const path = `/deliveries?state=${options.all ? "all" : "failed"}`;
    const { deliveries } = await call(z.object({ deliveries: z.array(delivery) }), path);
    const { terminal } = context;
    if (options.json) terminal.out(`${JSON.stringify(deliveries, undefined, 2)}\n`);
    else if (deliveries.length === 0) terminal.say("No notifications were given up.");
    else for (const one of deliveries) terminal.out(rowsOf(one));
  });
}

/** Shows one delivery. Rejects with `not_found` for one that is not the caller's. */
export async function showDelivery(id: string, options: DeliveriesOptions, context: CliContext): Promise<number> {
  return show(`/deliveries/${encodeURIComponent(id)}`, undefined, options, context);
}

/** Sends again what a receiver has missed. */
export async function retryDelivery(id: string, options: DeliveriesOptions, context: CliContext): Promise<number> {
  return show(`/deliveries/${encodeURIComponent(id)}/retry`, { method: "POST" }, options, context);
}

function show(
  path: string,
  init: { readonly method: string } | undefined,
  options: DeliveriesOptions,
  context: CliContext,
): Promise<number> {
  return atGateway(options, context, async (call) => {
    const found = await call(delivery, path, init);
    context.terminal.out(options.json ? `${JSON.stringify(found, undefined, 2)}\n` : rowsOf(found));
  });
}

function rowsOf({ id, state, url, taskId, reason, updatedAt }: z.output<typeof delivery>): string {
  const facts = [id, state, safeLine(url, 200), `task ${safeLine(taskId, 100)}`, updatedAt].join("  ·  ");
  return `${[facts, ...(reason === undefined ? [] : [`    ${safeLine(reason, 300)}`])].join("\n")}\n`;
}
