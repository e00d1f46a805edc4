import { AppError, messageOf } from "../../core/errors.ts";
import { readBody } from "./body.ts";
import { type Connect, connectByProxy, connectDirectly, type Hop, type OwnTls } from "./connect.ts";
import { admitUrl, type EgressPolicy } from "./policy.ts";
import { type Resolve, resolveBySystem } from "./resolve.ts";

/** A request to the network. Methods with a body are not redirected. */
export type EgressRequest = {
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** If set, the request is a POST. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  /** For the whole request: every hop and the body. */
  readonly timeoutMs: number;
  /** Maximum bytes of the decompressed body. */
  readonly maxBytes: number;
  /** Default: 5. With 0 none is followed: a redirect is an answer like any other. */
  readonly maxRedirects?: number;
  /** Called before every hop, after the policy check; an error it throws ends the request. */
  readonly admit?: (url: URL) => Promise<void>;
};

/** A response, whatever its status. `url` is the one it finally came from. */
export type EgressResponse = {
  readonly url: URL;
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** How an egress reaches the network; `tls` is for servers of this system. */
export type EgressOptions = {
  readonly proxy?: string | undefined;
  readonly resolve?: Resolve;
  readonly tls?: OwnTls | undefined;
};

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The requests of an egress, over Node's HTTP clients. */
export function fetchWithin(policy: EgressPolicy, options: EgressOptions) {
  const { proxy, tls, resolve = resolveBySystem } = options;
  const connect =
    proxy === undefined ? connectDirectly({ policy, resolve, tls }) : connectByProxy({ policy, resolve, tls, proxy });
  return (request: EgressRequest) => bounded(request, policy, connect);
}

async function bounded(request: EgressRequest, policy: EgressPolicy, connect: Connect): Promise<EgressResponse> {
  const { signal, timeoutMs } = request;
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await followRedirects(request, policy, connect, AbortSignal.any([signal, deadline]));
  } catch (error) {
    signal.throwIfAborted();
    const host = URL.parse(String(request.url))?.host;
    if (deadline.aborted)
      throw new AppError("timeout", `${host} did not answer in full within ${timeoutMs / 1000} s.`, { cause: error });
    if (error instanceof AppError) throw error;
    const reason = messageOf(error);
    throw new AppError("unavailable", `The request to ${host} failed: ${reason}`, { cause: error });
  }
}

async function followRedirects(
  request: EgressRequest,
  policy: EgressPolicy,
  connect: Connect,
  signal: AbortSignal,
): Promise<EgressResponse> {
  let hop: Hop = {
    url: admitUrl(request.url, policy),
    headers: { "accept-encoding": "gzip, br, deflate", ...request.headers },
    body: request.body,
    signal,
  };
  for (let left = request.maxRedirects ?? 5; ; left--) {
    await request.admit?.(hop.url);
    const answer = await connect(hop);
    const follows = request.maxRedirects !== 0 && redirects.has(answer.status);
    const target = follows ? answer.headers.location : undefined;
    if (target === undefined) {
      const body = await readBody(answer, { url: hop.url, maxBytes: request.maxBytes, signal });
      return { url: hop.url, status: answer.status, headers: answer.headers, body };
    }
    answer.stream.destroy();
    if (left <= 0 || hop.body !== undefined)
      throw new AppError(
        "unavailable",
        `${hop.url.host} answered with a redirect too many, to ${target.slice(0, 200)}.`,
      );
    hop = redirected(hop, admitUrl(URL.parse(target, hop.url.href) ?? target, policy));
  }
}

/** Another origin learns nothing beyond what any visitor sends. */
function redirected(hop: Hop, url: URL): Hop {
  if (url.origin === hop.url.origin) return { ...hop, url };
  const common = ["accept", "accept-encoding", "accept-language", "user-agent"];
  return {
    ...hop,
    url,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => common.includes(name))),
  };
}
