import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { publicError } from "../../core/errors.ts";
import { proxyName } from "./proxy-names.ts";

/** A response that the proxy itself sends instead of the target's. */
export type ProxyAnswer = { readonly status: number; readonly text: string };

/** The response to clients without credentials. */
export const needsCredentials: ProxyAnswer = { status: 407, text: "This proxy needs credentials." };

/**
 * The response for a failed request: 403 if it was refused, 504 if it took too long, 502 otherwise.
 */
export function failureAnswer(error: unknown): ProxyAnswer {
  const { code, message } = publicError(error);
  if (code === "forbidden" || code === "invalid_input") return { status: 403, text: message };
  if (code === "rate_limited") return { status: 503, text: message };
  return { status: code === "timeout" ? 504 : 502, text: message };
}

/** Responds with a short page, or ends the connection if a response has already begun. */
export function sendPage(response: ServerResponse, { status, text }: ProxyAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, headersOf(status, text));
  response.end(pageOf(status, text));
}

/** Responds to a request for a tunnel, and closes the connection. */
export function closeWithPage(socket: Socket, { status, text }: ProxyAnswer): void {
  const headers = Object.entries({ ...headersOf(status, text), connection: "close" });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join("\r\n")}\r\n\r\n${pageOf(status, text)}`);
}

function headersOf(status: number, text: string): Record<string, string> {
  return {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(Buffer.byteLength(pageOf(status, text))),
    "cache-control": "no-store",
    // RFC 9209
    "proxy-status": `${proxyName}; error=${status === 403 ? "http_request_denied" : "connection_refused"}`,
    ...(status === needsCredentials.status && { "proxy-authenticate": 'Basic realm="manyhands"' }),
  };
}

function pageOf(status: number, text: string): string {
  return text === "" ? "" : `${status} ${STATUS_CODES[status]}: ${text}\n`;
}
