import { createHmac } from "node:crypto";
import type { Refusal, Webhooks } from "manyhands/internal/a2a/push/webhooks";
import type { NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import type { RunNews } from "./run-news.ts";

/** What sending needs: webhooks that reach what the operator named, and the machine's clock. */
export type SendDeps = { readonly webhooks: Pick<Webhooks, "post">; readonly now?: () => number };

/**
 * Tells a target, undefined if it took it. `id` is the same however often it is tried. Rejects only
 * with the signal's reason.
 */
export async function sendNews(
  target: NotifyTarget,
  news: RunNews,
  id: string,
  { webhooks, now = Date.now }: SendDeps,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  if (target.type === "email") return (await import("./send-mail.ts")).sendMail(target, news, id, signal);
  const body = target.type === "slack" ? slackBody(news) : JSON.stringify(news);
  const signed = target.type === "webhook" ? signature(target.secret, { id, body, at: now() }) : {};
  const headers = { "Content-Type": "application/json", ...signed };
  return webhooks.post(target.url, { headers, body }, signal);
}

/** The headers of https://www.standardwebhooks.com; without a secret there is no signature. */
function signature(
  secret: string | undefined,
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: number },
): Record<string, string> {
  const time = `${Math.floor(at / 1000)}`;
  const named = { "webhook-id": id, "webhook-timestamp": time };
  if (secret === undefined) return named;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return { ...named, "webhook-signature": `v1,${mac}` };
}

const longestSlack = 3_000;

/** In Slack's form. Escaped, so that no answer of a model calls `<!channel>` or hides a link. */
function slackBody({ title, text, url }: RunNews): string {
  const escaped = (said: string) => said.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const shown = [`*${escaped(title)}*`, escaped(text.slice(0, longestSlack)), `<${url}|Open the run>`];
  return JSON.stringify({ text: shown.filter((line) => line !== "").join("\n") });
}
