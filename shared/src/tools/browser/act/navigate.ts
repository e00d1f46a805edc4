import type { Page, Response } from "playwright";
import * as z from "zod";
import { AppError, messageOf } from "../../../core/errors.ts";
import { failure, type Tool, type ToolResult } from "../../../core/tools/tool.ts";
import { proxyName } from "../../../machine/egress/proxy-names.ts";
import { judgeLoading } from "../../risk/acts.ts";
import { sameHosts } from "../../risk/same-kind.ts";
import { type BrowserCall, type BrowserDeps, browserTool, withoutLog } from "./browser-tool.ts";
import { addressFrom, followUp, placeOf } from "./follow-up.ts";
import { pageAddress } from "./input.ts";
import { tellLoading } from "./tell-loading.ts";

const loadMs = 30_000;

/**
 * Address and history: `browser_go_to_url`, `browser_go_back`, `browser_go_forward`,
 * `browser_refresh`.
 */
export function navigationTools(deps: BrowserDeps): Tool[] {
  const options = { waitUntil: "domcontentloaded", timeout: loadMs } as const;
  const plain = z.strictObject({});
  return [
    browserTool(deps, {
      name: "browser_go_to_url",
      description: "Opens an address in the browser.",
      opens: "browser",
      input: z.strictObject({ url: pageAddress }),
      reach: { opens: ({ url }) => [url] },
      sameKind: ({ url }, risk) => sameHosts([url], risk),
      run: ({ url }, call) => goTo(call, url),
    }),
    browserTool(deps, {
      name: "browser_go_back",
      description: "Goes back in the tab's history.",
      input: plain,
      judge: judgeLoading("back"),
      answersDialog: true,
      run: (_, call) => travel(call, (page) => page.goBack(options), "There is no page to go back to."),
    }),
    browserTool(deps, {
      name: "browser_go_forward",
      description: "Goes forward in the tab's history.",
      input: plain,
      judge: judgeLoading("forward"),
      answersDialog: true,
      run: (_, call) => travel(call, (page) => page.goForward(options), "There is no page to go forward to."),
    }),
    browserTool(deps, {
      name: "browser_refresh",
      description: "Reloads the page.",
      input: plain,
      judge: judgeLoading("again"),
      answersDialog: true,
      run: (_, call) => visit(call, (page) => page.reload(options)),
    }),
  ];
}

/**
 * Opens an address in the active tab and reports the outcome. When no site was reached, the result
 * says that nothing was taken in.
 */
export function goTo(call: BrowserCall, url: string): Promise<ToolResult> {
  return visit(call, async (page) => {
    const open = () => page.goto(url, { waitUntil: "domcontentloaded", timeout: loadMs });
    try {
      return await open();
    } catch (error) {
      // When a page fails to load, the browser's error page interrupts the navigation to the next
      // one.
      if (error instanceof Error && /interrupted by another navigation to "chrome-error/.test(error.message))
        return await open();
      throw error;
    }
  });
}

async function travel(
  call: BrowserCall,
  go: (page: Page) => Promise<Response | null>,
  refusal: string,
): Promise<ToolResult> {
  const { url } = placeOf(call.browsing);
  let response: Response | null = null;
  const said = await visit(call, async (page) => {
    response = await go(page);
    return response;
  });
  // The steps of a form may share one address, and a page that was not loaded anew has no response.
  const isSame = response === null && placeOf(call.browsing).url === url;
  return isSame && call.browsing.dialog() === undefined ? { text: refusal, isError: false } : said;
}

async function visit(call: BrowserCall, go: (page: Page) => Promise<Response | null>): Promise<ToolResult> {
  const { browsing, looks } = call;
  const { page } = browsing.active();
  const wasRefused = looks.refused?.page === page && looks.refused.url === page.url();
  let reached = !wasRefused && !isNoSite(page.url());
  const note = (response: Response) => {
    reached ||= !isOurs(response);
  };
  page.on("response", note);
  try {
    const text = await visited(call, go);
    if (reached) return { text, isError: false };
    looks.refused = { page, url: page.url() };
    return { text, isError: false, takenIn: [] };
  } catch (error) {
    call.context.signal.throwIfAborted();
    if (reached) throw error;
    const said = withoutLog(error);
    return { ...failure(messageOf(said)), takenIn: [] };
  } finally {
    page.off("response", note);
  }
}

/** Whether nobody's page is at an address: an empty one, or the browser's own of an error. */
function isNoSite(url: string): boolean {
  return url === "" || url === "about:blank" || url.startsWith("chrome-error:");
}

async function visited(call: BrowserCall, go: (page: Page) => Promise<Response | null>): Promise<string> {
  const { browsing, looks, context } = call;
  const before = placeOf(browsing);
  looks.restless = true;
  let failed = "";
  let title = "";
  let downloads = false;
  const acting = browsing.act(
    async (page) => {
      try {
        failed = failureOf(await go(page));
        title = await page.title();
      } catch (error) {
        if (!isDownload(error)) throw explained(error);
        downloads = true;
      }
    },
    { signal: context.signal, timeoutMs: loadMs },
  );
  await tellLoading(call, acting);
  const now = placeOf(browsing);
  const rest = await followUp(call, now, undefined);
  if (downloads) return ["The address is a file: it is downloaded, and the page stays.", ...rest].join(" ");
  const called = title === "" ? "" : ` ${JSON.stringify(title.replace(/\s+/g, " ").slice(0, 100))}`;
  return [`The page is now ${addressFrom(before.url, now.url)}${called}.${failed}`, ...rest].join(" ");
}

/** What an answer without the page is called; ours are not the site's. */
function failureOf(response: Response | null): string {
  const status = response?.status() ?? 0;
  if (status < 400) return "";
  if (response === null || !isOurs(response)) return ` The server answered ${status}.`;
  return status === 403
    ? " The site was not asked: this system refused the request."
    : " The site did not answer: the request failed on the way.";
}

/**
 * Whether our proxy answered instead of the site. It cannot answer within TLS, and takes this
 * header off what others answer.
 */
function isOurs(response: Response): boolean {
  if (!response.url().startsWith("http:") || response.fromServiceWorker()) return false;
  return response.headers()["proxy-status"]?.startsWith(`${proxyName};`) === true;
}

/** Whether a navigation ended because the address turned out to be a file. */
export function isDownload(error: unknown): boolean {
  return error instanceof Error && /Download is starting/.test(error.message);
}

const networkErrors: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/ERR_NAME_NOT_RESOLVED/, "There is no such host. Check the address, or search for it."],
  [/ERR_CONNECTION_REFUSED|ERR_ADDRESS_UNREACHABLE/, "The host does not answer at this address."],
  [/ERR_CONNECTION_TIMED_OUT|ERR_TIMED_OUT/, "The host did not answer in time."],
  [/ERR_CERT|ERR_SSL/, "The host's certificate is not valid."],
  [/ERR_TOO_MANY_REDIRECTS/, "The address redirects without end."],
  [
    /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY|ERR_BLOCKED|ERR_ACCESS_DENIED|ERR_FAILED/,
    "The request was refused or failed on the way.",
  ],
  [/ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_CONNECTION_CLOSED|ERR_INVALID_HTTP/, "The host broke off."],
  [/ERR_UNSAFE_PORT/, "Browsers open no page on this port."],
];
const anyNetworkError = /net::(ERR_\w+)/;

function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const known = networkErrors.find(([pattern]) => pattern.test(error.message));
  const code = anyNetworkError.exec(error.message)?.[1];
  const text = known?.[1] ?? (code && `The page could not be loaded (${code}).`);
  return text === undefined ? error : new AppError("unavailable", text, { cause: error });
}
