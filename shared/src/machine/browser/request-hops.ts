import type { CDPSession, Frame, Page, Request, WebSocketRoute } from "playwright";
import type { Routes } from "./page-routes.ts";

/**
 * One hop of a request before it is made: of a redirect each, of a WebSocket its opening
 * (`CONNECT`) and each message to the server (`SEND`). `body` is what of it the browser tells.
 */
export type RequestHop = { readonly method: string; readonly url: string; readonly body: string };

/** Whether a hop may be made. One that throws lets nothing through. */
export type JudgeHop = (hop: RequestHop) => boolean | Promise<boolean>;

/**
 * What a context's pages ask for, hop by hop, where the browser speaks DevTools. The redirects of
 * what a new tab or a frame of another site loads first are told too late: such a page is left
 * again. Neither are WebSockets seen that workers open, nor what a service worker asks for.
 */
export interface RequestHops {
  /**
   * From now on a hop is only made if this lets it, too; WebSockets of pages loaded from now on.
   */
  add(judge: JudgeHop): Promise<void>;
  watch(page: Page): Promise<void>;
  /**
   * Whether the redirects of a request are judged before they are made; undefined when this browser
   * tells of none.
   */
  follows(request: Request): Promise<boolean | undefined>;
}

const patterns = [{ urlPattern: "http://*" }, { urlPattern: "https://*" }];
const leaveMs = 3_000;

/** Follows the pages that `watch` is called with. */
export function createRequestHops(routes: Routes): RequestHops {
  const judges: JudgeHop[] = [];
  const pages = new Map<Page, Promise<boolean> | undefined>();
  const frames = new WeakSet<Frame>();
  const mayBeMade = async (hop: RequestHop): Promise<boolean> => {
    try {
      return (await Promise.all(judges.map((judge) => judge(hop)))).every(Boolean);
    } catch {
      return false;
    }
  };
  const followFrame = async (frame: Frame, page: Page): Promise<void> => {
    // A frame that shares the process of its page has no session of its own.
    if (frame !== page.mainFrame() && !frames.has(frame) && (await follow(page, frame, mayBeMade))) frames.add(frame);
  };
  const begin = async (page: Page): Promise<void> => {
    const following = pages.get(page) ?? follow(page, page, mayBeMade);
    if (pages.get(page) === undefined) {
      page.on("framenavigated", (frame) => void followFrame(frame, page));
      page.on("response", (response) => void leaveIfRefused(page, response.request(), mayBeMade));
    }
    pages.set(page, following);
    await following;
  };
  return {
    async add(judge) {
      judges.push(judge);
      if (judges.length === 1) await routes.routeWebSocket(/^wss?:/, (socket) => passOn(socket, mayBeMade));
      await Promise.all([...pages.keys()].map(begin));
    },
    async watch(page) {
      pages.set(page, undefined);
      page.once("close", () => pages.delete(page));
      if (judges.length > 0) await begin(page);
    },
    async follows(request) {
      const known = (await Promise.all(pages.values())).filter((one) => one !== undefined);
      if (known.length > 0 && !known.includes(true)) return undefined;
      const frame = frameOf(request);
      const page = frame?.page();
      if (frame === undefined || page === undefined || (await pages.get(page)) !== true) return false;
      return frame === page.mainFrame() || frames.has(frame) || (await sharesProcess(page, frame));
    },
  };
}

/** Has each hop of a page, or of a frame with a process of its own, judged before it is made. */
async function follow(
  page: Page,
  target: Page | Frame,
  mayBeMade: (hop: RequestHop) => Promise<boolean>,
): Promise<boolean> {
  try {
    const session = await page.context().newCDPSession(target);
    const decide = async (requestId: string, hop: RequestHop) => {
      if (await mayBeMade(hop)) await session.send("Fetch.continueRequest", { requestId });
      else await session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
    };
    session.on("Fetch.requestPaused", ({ requestId, request }) => {
      // Whatever is paused when a page closes is gone with it.
      decide(requestId, { ...request, body: bodyOf(request) }).catch(() => undefined);
    });
    await session.send("Fetch.enable", { patterns });
    return true;
  } catch {
    return false;
  }
}

type PausedBody = { readonly postData?: string; readonly postDataEntries?: readonly { readonly bytes?: string }[] };

function bodyOf({ postData = "", postDataEntries = [] }: PausedBody): string {
  const parts = postDataEntries.map(({ bytes = "" }) => Buffer.from(bytes, "base64").toString());
  return parts.length > 0 ? parts.join("") : postData;
}

async function sharesProcess(page: Page, frame: Frame): Promise<boolean> {
  const own: CDPSession | undefined = await page
    .context()
    .newCDPSession(frame)
    .catch(() => undefined);
  await own?.detach();
  return own === undefined;
}

/** The frame that asks; undefined before it is made, and for a service worker. */
export function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

/** A redirect that was followed before anybody could judge it. */
async function leaveIfRefused(
  page: Page,
  request: Request,
  mayBeMade: (hop: RequestHop) => Promise<boolean>,
): Promise<void> {
  if (request.redirectedFrom() === null) return;
  const hop = { method: request.method(), url: request.url(), body: request.postData() ?? "" };
  if (!(await mayBeMade(hop))) await page.goto("about:blank", { timeout: leaveMs }).catch(() => undefined);
}

/**
 * Passes a page's WebSocket on to its server, message by message, for as long as each may be sent.
 */
async function passOn(page: WebSocketRoute, mayBeMade: (hop: RequestHop) => Promise<boolean>): Promise<void> {
  const url = page.url().replace(/^ws/, "http");
  if (!(await mayBeMade({ method: "CONNECT", url, body: page.protocols().join(", ") }))) return await page.close();
  const server = page.connectToServer();
  let sent = Promise.resolve();
  const send = (text: string, done: () => unknown) => {
    sent = sent.then(async () => {
      if (await mayBeMade({ method: "SEND", url, body: text })) await done();
      else await Promise.all([page.close({ code: refusedCode }), server.close()]);
    });
    // One end may be closed already.
    sent = sent.catch(() => undefined);
  };
  page.onMessage((message) => send(message.toString(), () => server.send(message)));
  page.onClose((code, reason = "") =>
    send(reason, () => server.close({ ...(code !== undefined && { code }), reason })),
  );
}

/** Of RFC 6455, 7.4: a message that violates the policy. */
const refusedCode = 1008;
