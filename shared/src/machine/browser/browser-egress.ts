import type { BrowserContextOptions, Page } from "playwright";
import { publicError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import type { ProxiedRequest, TellRequest } from "../egress/proxy-access.ts";
import { addressesOf, admitTarget, type DialDeps } from "../egress/proxy-dial.ts";
import { proxyGreeting } from "../egress/proxy-names.ts";
import { resolveBySystem } from "../egress/resolve.ts";
import type { Notices } from "./notices.ts";
import type { Routes } from "./page-routes.ts";
import type { RequestHops } from "./request-hops.ts";

/** How a context's requests reach the network, and where the policy checks them. */
export interface BrowserEgress {
  readonly proxy: BrowserContextOptions["proxy"];
  /** Sets up what the proxy does not do; called before the first page is opened. */
  guard(routes: Routes, hops: Pick<RequestHops, "add">): Promise<void>;
  /** Prepares using the first page, which is empty again afterwards. */
  begin(page: Page): Promise<void>;
  revoke(): void;
}

/**
 * Sends everything through our proxy, under separate credentials: for a browser that shares this
 * machine's loopback. The loopback that its pages know is that of the conversation's shell.
 */
export function throughProxy(
  proxy: EgressProxy,
  settings: BrowserSettings,
  { notices, workspace }: { readonly notices: Notices; readonly workspace: Workspace | undefined },
): BrowserEgress {
  const { loopback, onRequest } = settings;
  const own = loopback && workspace && ((port: number) => loopback(workspace, port));
  const user = proxy.admit((request) => {
    onRequest?.(request);
    tellRefused(request, notices);
  }, own);
  const { username, password, revoke } = user;
  return {
    proxy: { server: proxy.url, username, password, bypass: "<-loopback>" },
    guard: async () => undefined,
    begin: learnCredentials,
    revoke,
  };
}

/** For tabs of a browser that was started as one user of our proxy, whose refusals are theirs. */
export function alreadyProxied(listeners: Set<TellRequest>, notices: Notices): BrowserEgress {
  const tell: TellRequest = (request) => tellRefused(request, notices);
  listeners.add(tell);
  return {
    proxy: undefined,
    guard: async () => undefined,
    begin: learnCredentials,
    revoke: () => void listeners.delete(tell),
  };
}

/**
 * From this response the browser learns the credentials, also for requests that cannot be
 * challenged for them, such as a WebSocket.
 */
async function learnCredentials(page: Page): Promise<void> {
  await page.goto(proxyGreeting);
  await page.goto("about:blank");
}

/**
 * For a browser elsewhere, which cannot reach our proxy: each hop of a request is judged before it
 * is made, as far as that browser tells of them. The address that is connected to is not covered;
 * it is up to that browser's network.
 */
export function judgedHere(settings: BrowserSettings, notices: Notices): BrowserEgress {
  const { policy, upstream, resolve = resolveBySystem } = settings;
  const judgeAnew = async (method: string, target: string): Promise<boolean> => {
    let refused: string | undefined;
    try {
      await addressesOf(admitTarget(target, policy), { ...judging, policy, resolve });
    } catch (error) {
      const { code, message } = publicError(error);
      // A name that only the browser's network knows is left to that network.
      refused = code === "unavailable" ? undefined : message;
    }
    const request = { method, target, refused };
    settings.onRequest?.(request);
    tellRefused(request, notices);
    return refused === undefined;
  };
  const judge = judgedOnce(judgeAnew);
  return {
    proxy: upstream === undefined ? undefined : proxyOf(upstream),
    async guard(routes, hops) {
      await routes.route(/^https?:/, async (route) => {
        const request = route.request();
        if (await judge(request.method(), request.url())) await route.fallback();
        else await route.abort("blockedbyclient");
      });
      await hops.add(({ method, url }) => method === "SEND" || judge(method, url));
    },
    begin: async () => undefined,
    revoke: () => undefined,
  };
}

const pairedMs = 2_000;

/** Judges what the page asks for, and the browser again right after it, once. */
function judgedOnce(
  judge: (method: string, target: string) => Promise<boolean>,
): (method: string, target: string) => Promise<boolean> {
  const admitted = new Set<string>();
  return async (method, target) => {
    const key = `${method} ${target}`;
    if (admitted.delete(key)) return true;
    if (!(await judge(method, target))) return false;
    admitted.add(key);
    setTimeout(() => admitted.delete(key), pairedMs).unref();
    return true;
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
