import type { TriggerConfig } from "manyhands/internal/config/triggers/trigger-config";
import type { Json } from "manyhands/internal/core/json";
import { requireJsonBytes } from "manyhands/internal/http/json-text";
import * as z from "zod";
import type { RawWebhook } from "./check-signature.ts";

/** What a webhook says; `event` is empty if its sender names none. */
export type Webhook = { readonly payload: Json; readonly event: string; readonly delivery: string };

const word = z.string().min(1).max(200);
const action = z.looseObject({ action: word.optional().catch(undefined) }).catch({});
const gitlab = z
  .looseObject({ object_kind: word.optional().catch(undefined), object_attributes: action.optional().catch(undefined) })
  .catch({});
const slack = z
  .looseObject({
    type: word.optional().catch(undefined),
    challenge: word.optional().catch(undefined),
    command: word.optional().catch(undefined),
    event: z
      .looseObject({ type: word.optional().catch(undefined) })
      .optional()
      .catch(undefined),
    event_id: word.optional().catch(undefined),
    trigger_id: word.optional().catch(undefined),
  })
  .catch({});
const typed = z.looseObject({ type: word.optional().catch(undefined), id: word.optional().catch(undefined) }).catch({});

/**
 * Reads a webhook whose signature was right. Throws `invalid_input` for a body that is neither JSON
 * nor, from Slack and GitHub, a form.
 */
export function readWebhook({ type }: Pick<TriggerConfig, "type">, { headers, body }: RawWebhook): Webhook {
  const payload = payloadOf(headers, body);
  const header = (name: string) => (headers.get(name) ?? "").slice(0, 200);
  switch (type) {
    case "github": {
      const name = header("x-github-event");
      return { payload, event: dotted(name, action.parse(payload).action), delivery: header("x-github-delivery") };
    }
    case "gitlab": {
      const { object_kind: kind = "", object_attributes: attributes } = gitlab.parse(payload);
      const delivery = header("webhook-id") || header("idempotency-key") || header("x-gitlab-event-uuid");
      return { payload, event: dotted(kind, attributes?.action), delivery };
    }
    case "slack": {
      const said = slack.parse(payload);
      const event = said.command ?? said.event?.type ?? said.type ?? "";
      return { payload, event, delivery: said.event_id ?? said.trigger_id ?? "" };
    }
    default: {
      const { type: event = "", id = "" } = typed.parse(payload);
      return { payload, event, delivery: header("webhook-id") || id };
    }
  }
}

/** What Slack wants to hear before it sends anything; undefined if it does not ask. */
export function challengeOf({ type }: Pick<TriggerConfig, "type">, { payload }: Webhook): string | undefined {
  if (type !== "slack") return undefined;
  const said = slack.parse(payload);
  return said.type === "url_verification" ? said.challenge : undefined;
}

/** Whether the trigger is for this event: `issues` covers `issues.opened`. */
export function isMeant({ events }: Pick<TriggerConfig, "events">, event: string): boolean {
  return events.length === 0 || events.some((one) => one === event || event.startsWith(`${one}.`));
}

function dotted(event: string, action: string | undefined): string {
  return action === undefined || event === "" ? event : `${event}.${action}`;
}

/** JSON, or a form: of its fields, or with the JSON in its field `payload`. */
function payloadOf(headers: Headers, body: Uint8Array): Json {
  if (!headers.get("content-type")?.startsWith("application/x-www-form-urlencoded"))
    return requireJsonBytes(body) as Json;
  const fields = new URLSearchParams(new TextDecoder().decode(body));
  const whole = fields.get("payload");
  return whole === null ? Object.fromEntries(fields) : (requireJsonBytes(new TextEncoder().encode(whole)) as Json);
}
