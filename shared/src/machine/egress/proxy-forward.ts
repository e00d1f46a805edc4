import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../core/errors.ts";
import type { DialDeps } from "./proxy-dial.ts";
import { countBytes } from "./proxy-relay.ts";

/**
 * Headers that apply to one hop, those for the proxy itself, the one in which it alone says that it
 * answered, and the header with the target's name.
 */
const hopHeaders: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "proxy-status",
  "te",
  "trailer",
  "upgrade",
]);

/** The addresses that were checked, or a socket of ours that stands for the target. */
type Way = { readonly addresses: readonly string[] } | { readonly socketPath: string };
type ForwardDeps = Pick<DialDeps, "upstream" | "connectMs"> & { readonly idleMs: number };

/**
 * Forwards a request for an admitted http URL, and returns the response to the client. Rejects with
 * `timeout` or `unavailable`.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  way: Way,
  deps: ForwardDeps & { readonly answerBytes: number },
): Promise<"ended" | "cut"> {
  const answer = await send(request, response, url, way, deps);
  response.writeHead(answer.statusCode ?? 502, withoutHopHeaders(answer.rawHeaders));
  let cut = false;
  const counted = countBytes(deps.answerBytes, () => {
    cut = true;
  });
  // If the client disconnects, or the server breaks off in the middle, nobody is left to report it
  // to.
  await pipeline(answer, counted, response).catch(() => response.destroy());
  return cut ? "cut" : "ended";
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  way: Way,
  { upstream, connectMs, idleMs }: ForwardDeps,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const via = upstream?.url ?? url;
    const secure = via.protocol === "https:";
    const host = via.hostname.replace(/^\[|\]$/g, "");
    const sent = (secure ? requestHttps : requestHttp)({
      host,
      // Without it the certificate would have to be for the Host below.
      ...(secure && { servername: isIP(host) === 0 ? host : "" }),
      port: via.port || (secure ? 443 : 80),
      method: request.method ?? "GET",
      path: upstream === undefined ? `${url.pathname}${url.search}` : url.href,
      headers: {
        ...withoutHopHeaders(request.rawHeaders),
        // The target is the admitted URL; a different Host is not forwarded (RFC 9112, 3.2.2).
        host: url.host,
        ...(upstream?.authorization !== undefined && { "proxy-authorization": upstream.authorization }),
      },
      ...("socketPath" in way && { socketPath: way.socketPath }),
      ...(upstream === undefined && "addresses" in way && { lookup: pinned(way.addresses) }),
      agent: false,
    });
    const timer = setTimeout(
      () => sent.destroy(new AppError("timeout", `${url.host} did not answer in time.`)),
      connectMs + idleMs,
    );
    sent.once("response", (answer) => {
      clearTimeout(timer);
      answer.setTimeout(idleMs, () => answer.destroy());
      resolve(answer);
    });
    sent.once("error", (cause) => {
      clearTimeout(timer);
      const failure = new AppError("unavailable", `${url.host} cannot be reached: ${cause.message}`, { cause });
      reject(cause instanceof AppError ? cause : failure);
    });
    response.once("close", () => sent.destroy());
    request.pipe(sent);
  });
}

/** Makes a connection use exactly the addresses that were checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  return (_host, options, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (options.all === true) done(null, found);
    else done(null, found[0]?.address ?? "", found[0]?.family);
  };
}

function withoutHopHeaders(raw: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (hopHeaders.has(name.toLowerCase())) continue;
    const known = headers[name];
    headers[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  return headers;
}
