import type { Refusal } from "manyhands/internal/a2a/push/webhooks";
import type { EmailTarget } from "manyhands/internal/config/triggers/trigger-config";
import { createTransport } from "nodemailer";
import type { RunNews } from "./run-news.ts";

/** Milliseconds for each part of a conversation with a mail server, and for all of it. */
const partMs = 15_000;
const wholeMs = 60_000;

/**
 * Sends an e-mail of plain text, undefined if the server took it. Its Message-ID is the same
 * however often it is tried, so that mailboxes show it once. Rejects only with the signal's reason.
 */
export async function sendMail(
  { host, port, security, login, from, to }: EmailTarget,
  { title, text, url }: RunNews,
  id: string,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  signal.throwIfAborted();
  const transport = createTransport({
    ...{ host, port, secure: security === "tls" },
    ...(security === "starttls" && { requireTLS: true }),
    ...(security === "none" && { ignoreTLS: true }),
    ...(login && { auth: login }),
    ...{ connectionTimeout: partMs, greetingTimeout: partMs, socketTimeout: partMs, dnsTimeout: partMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  const enough = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)]);
  try {
    const mail = {
      from,
      to: [...to],
      subject: title,
      text: `${text}\n\n${url}\n`,
      messageId: `<${id.replaceAll(/[^\w.-]/g, ".")}@manyhands>`,
      // It hangs up too.
      signal: enough,
    };
    await transport.sendMail(mail);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return refusalOf(enough.aborted ? enough.reason : error);
  }
}

/**
 * A server that says 5xx, or no to the password, would say it again. What it says names whose mail
 * it is, which is for the operator alone.
 */
function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Error)) return { reason: "the e-mail could not be sent", final: false };
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const isFinal = (typeof responseCode === "number" && responseCode >= 500) || code === "EAUTH";
  const said = error.message.slice(0, 300).replaceAll(/<?[^\s<>]+@[^\s<>]+>?/g, "<an address>");
  return { reason: `the mail server: ${said}`, final: isFinal };
}
