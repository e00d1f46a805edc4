import type { BrowserContext, BrowserContextOptions, Page } from "playwright";
import { publicError } from "../../core/errors.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import { type EgressProxy, proxyGreeting } from "../egress/proxy.ts";
import type { ProxiedRequest } from "../egress/proxy-access.ts";
import { addressesOf, admitTarget, type DialDeps } from "../egress/proxy-dial.ts";
import { resolveBySystem } from "../egress/resolve.ts";
import type { Notices } from "./notices.ts";

/** How a context's requests leave, and where the policy stands in their way. */
export interface BrowserEgress {
  readonly proxy: BrowserContextOptions["proxy"];
  /** Sets up what is not done by the proxy; before the first page. */
  guard(context: BrowserContext): Promise<void>;
  /** Makes ready with the first page, which is empty again afterwards. */
  begin(page: Page): Promise<void>;
  revoke(): void;
}

/**
 * Everything through our proxy, under a name of its own: for a browser that shares this machine's
 * loopback.
 */
export function throughProxy(proxy: EgressProxy, settings: BrowserSettings, notices: Notices): BrowserEgress {
  const user = proxy.admit((request) => {
    settings.onRequest?.(request);
    tellRefused(request, notices);
  });
  const { username, password, revoke } = user;
  return {
    proxy: { server: proxy.url, username, password, bypass: "<-loopback>" },
    guard: async () => undefined,
    async begin(page) {
      // With the answer to this the browser knows the credentials for what cannot be asked for
      // them, such as a WebSocket.
      await page.goto(proxyGreeting);
      await page.goto("about:blank");
    },
    revoke,
  };
}

/**
 * For a browser elsewhere, which does not reach our proxy: each request is judged as it is made.
 * Redirects and the address that is connected to are beyond this, and up to the network that
 * browser is in.
 */
export function firstHopOnly(settings: BrowserSettings, notices: Notices): BrowserEgress {
  const { policy, upstream, resolve = resolveBySystem } = settings;
  const judge = async (method: string, target: string): Promise<boolean> => {
    let refused: string | undefined;
    try {
      await addressesOf(admitTarget(target, policy), { ...judging, policy, resolve });
    } catch (error) {
      const { code, message } = publicError(error);
      // A name that only that network knows is left to it.
      refused = code === "unavailable" ? undefined : message;
    }
    const request = { method, target, refused };
    settings.onRequest?.(request);
    tellRefused(request, notices);
    return refused === undefined;
  };
  return {
    proxy: upstream === undefined ? undefined : proxyOf(upstream),
    async guard(context) {
      await context.route(/^https?:/, async (route) => {
        const request = route.request();
        if (await judge(request.method(), request.url())) await route.fallback();
        else await route.abort("blockedbyclient");
      });
      await context.routeWebSocket(/^wss?:/, async (socket) => {
        if (await judge("CONNECT", socket.url().replace(/^ws/, "http"))) socket.connectToServer();
        else await socket.close();
      });
    },
    begin: async () => undefined,
    revoke: () => undefined,
  };
}

const judging: Pick<DialDeps, "upstream" | "connectMs"> = { upstream: undefined, connectMs: 0 };

function proxyOf({
  server,
  username,
  password,
}: NonNullable<BrowserSettings["upstream"]>): BrowserContextOptions["proxy"] {
  return { server, ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
}

function tellRefused({ method, target, refused }: ProxiedRequest, notices: Notices): void {
  if (refused !== undefined) notices.add(`The request ${method} ${target.slice(0, 200)} was refused: ${refused}`);
}
