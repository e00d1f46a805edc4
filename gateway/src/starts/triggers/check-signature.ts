import { createHmac } from "node:crypto";
import type { TriggerConfig } from "manyhands/internal/config/triggers/trigger-config";
import { sameSecret } from "manyhands/internal/core/text/same-secret";

/** A webhook as it came: what is signed is its bytes. */
export type RawWebhook = { readonly headers: Headers; readonly body: Uint8Array };

/**
 * How a webhook proves where it came from: `signed` is all that its signature covers, so the same
 * text is the same delivery whatever else it says. Otherwise the reason why it proves nothing.
 */
export type Proof = { readonly signed: string } | { readonly reason: string };

/** How old a signed time may be, or how far ahead. Seconds. */
const windowSeconds = 300;

/** Checks the signature of a webhook over its raw body; `now` is in milliseconds. */
export function checkSignature(trigger: TriggerConfig, webhook: RawWebhook, now: number): Proof {
  switch (trigger.type) {
    case "github":
      return overBody(trigger.secret, webhook, "x-hub-signature-256");
    case "gitlab":
      return trigger.secret.startsWith("whsec_")
        ? standard(trigger.secret, webhook, now)
        : byToken(trigger.secret, webhook);
    case "slack":
      return slack(trigger.secret, webhook, now);
    case "standard":
      return standard(trigger.secret, webhook, now);
    case "hmac":
      return generic(trigger, webhook, now);
  }
}

const missing: Proof = { reason: "it has no signature" };
const wrong: Proof = { reason: "its signature is wrong" };
const stale: Proof = { reason: "the time it was signed at is missing or more than five minutes from now" };

function overBody(secret: string, { headers, body }: RawWebhook, header: string): Proof {
  const given = headers.get(header);
  if (given === null) return missing;
  const mac = hmac(secret, [body]);
  return sameSecret(given.replace(/^sha256=/, "").toLowerCase(), mac.toString("hex")) ? signedBy(mac) : wrong;
}

/** A token proves who sends, but covers nothing: the sender's own id is the delivery's. */
function byToken(secret: string, { headers, body }: RawWebhook): Proof {
  const given = headers.get("x-gitlab-token");
  if (given === null) return missing;
  if (!sameSecret(given, secret)) return wrong;
  const id = headers.get("idempotency-key") ?? headers.get("x-gitlab-event-uuid");
  return signedBy(hmac(secret, id === null ? [body] : ["id ", id]));
}

function slack(secret: string, { headers, body }: RawWebhook, now: number): Proof {
  const [given, time] = [headers.get("x-slack-signature"), headers.get("x-slack-request-timestamp")];
  if (given === null) return missing;
  if (!isNear(time, now)) return stale;
  const mac = hmac(secret, ["v0:", time, ":", body]);
  return sameSecret(given, `v0=${mac.toString("hex")}`) ? signedBy(hmac(secret, [body])) : wrong;
}

/** https://www.standardwebhooks.com: the id, the time and the body are signed. */
function standard(secret: string, { headers, body }: RawWebhook, now: number): Proof {
  const [id, time, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers.get(name));
  if (id === null || id === undefined || given === null || given === undefined) return missing;
  if (!isNear(time, now)) return stale;
  const mac = hmac(Buffer.from(secret.replace(/^whsec_/, ""), "base64"), [id, ".", time, ".", body]);
  const expected = `v1,${mac.toString("base64")}`;
  const isRight = given
    .split(" ")
    .slice(0, 10)
    .some((one) => sameSecret(one, expected));
  return isRight ? signedBy(hmac(secret, ["id ", id])) : wrong;
}

function generic(trigger: TriggerConfig, webhook: RawWebhook, now: number): Proof {
  const { secret, signatureHeader, timestampHeader } = trigger;
  if (timestampHeader === undefined) return overBody(secret, webhook, signatureHeader);
  const time = webhook.headers.get(timestampHeader);
  if (!isNear(time, now)) return stale;
  const body = Buffer.concat([Buffer.from(`${time}.`), webhook.body]);
  return overBody(secret, { ...webhook, body }, signatureHeader);
}

function isNear(time: string | null | undefined, now: number): time is string {
  if (time === null || time === undefined || !/^\d{1,12}$/.test(time)) return false;
  return Math.abs(now / 1000 - Number(time)) <= windowSeconds;
}

function hmac(secret: string | Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const mac = createHmac("sha256", secret);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

function signedBy(mac: Buffer): Proof {
  return { signed: mac.toString("hex") };
}
