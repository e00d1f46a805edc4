import { Hono } from "hono";
import { type Caller, type Identify, requireScope, type Scope } from "../../core/caller.ts";
import { checkInput } from "../../core/check-input.ts";
import { AppError, errorCodes, publicError } from "../../core/errors.ts";
import { type LivePage, type LiveScreen, liveOrder, liveScreens } from "../../core/live-page.ts";
import { type Engine, type RunRecord, terminalStatuses } from "../../core/runs/engine.ts";
import { challengeOf } from "../../http/challenge.ts";
import { requireJsonBytes } from "../../http/json-text.ts";
import { bodyOf } from "../../http/request-body.ts";
import { type SseFrame, sseAnswer } from "../../http/sse.ts";
import { untilRevoked } from "../../http/until-revoked.ts";
import { ownRun } from "../../runs/own-run.ts";

/** What showing the page of a task needs. */
export type LiveDeps = {
  readonly kind: string;
  readonly engine: Pick<Engine, "get">;
  readonly identify: Identify;
  readonly heartbeatMs: number;
  readonly report: (bug: unknown) => void;
  /** The page or the desktop of a task's conversation; undefined where there is none. */
  pageOf(run: RunRecord, screen: LiveScreen): Promise<LivePage | undefined>;
};

/** How often a view looks whether its task has ended. */
const lookMs = 1_000;

/**
 * `GET /live/{task}`: the open page of one of the caller's tasks, as server-sent events; the last
 * says `{ended: true}`. `POST /live/{task}`: takes the page, uses it, hands it back. What is typed
 * goes to the page alone. With `?screen=desktop` it is the desktop instead of the browser.
 */
export function liveApp(deps: LiveDeps): Hono {
  const app = new Hono();
  app.onError((error) => {
    if (!(error instanceof AppError)) deps.report(error);
    const failure = publicError(error);
    const { status } = errorCodes[failure.code];
    const headers = { ...challengeOf(error), ...(status === 503 && { "Retry-After": "5" }) };
    return Response.json(failure, { status, headers });
  });
  const taskOf = async (request: Request, id: string, scope: Scope): Promise<{ run: RunRecord; caller: Caller }> => {
    const caller: Caller = await deps.identify(request);
    requireScope(caller, scope);
    const run = await ownRun(deps.engine, id, { principal: caller.principal, kind: deps.kind, called: "task" });
    return { run, caller };
  };
  app.get("/live/:task", async (c) => {
    const { run, caller } = await taskOf(c.req.raw, c.req.param("task"), "read");
    const screen = screenOf(c.req.queries("screen"));
    const { signal } = c.req.raw;
    const response = await sseAnswer(signal, deps.heartbeatMs, (gone) => frames(run, screen, gone, deps));
    return untilRevoked(response, caller.isStillValid);
  });
  app.post("/live/:task", async (c) => {
    const { run } = await taskOf(c.req.raw, c.req.param("task"), "run");
    // A form of another site cannot send this type without being asked first.
    if (!/^application\/json\s*(?:;|$)/i.test(c.req.header("Content-Type") ?? ""))
      throw new AppError("unsupported", "Send JSON, with Content-Type: application/json.");
    const order = checkInput(liveOrder, requireJsonBytes(new Uint8Array(await bodyOf(c))), "body");
    if (hasEnded(run)) throw new AppError("conflict", "The task has ended.");
    const page = await deps.pageOf(run, screenOf(c.req.queries("screen")));
    if (page === undefined) throw new AppError("conflict", "No page is open.");
    await page.order(order);
    return c.json({ done: true });
  });
  return app;
}

function screenOf(asked = ["browser"]): LiveScreen {
  const screen = liveScreens.find((one) => one === asked.join());
  if (screen === undefined)
    throw new AppError("invalid_input", `must be ${liveScreens.join(" or ")}`, { field: "screen" });
  return screen;
}

function hasEnded({ status }: RunRecord): boolean {
  return terminalStatuses.includes(status);
}

async function* frames(
  run: RunRecord,
  screen: LiveScreen,
  signal: AbortSignal,
  deps: LiveDeps,
): AsyncGenerator<SseFrame | readonly SseFrame[], void, undefined> {
  const over = new AbortController();
  const timer = setInterval(async () => {
    const now = await deps.engine.get(run.id).catch(() => run);
    if (now === undefined || hasEnded(now)) over.abort();
  }, lookMs);
  try {
    if (hasEnded(run)) over.abort();
    const either = AbortSignal.any([signal, over.signal]);
    for (let page = await deps.pageOf(run, screen); ; page = await deps.pageOf(run, screen)) {
      if (either.aborted) break;
      if (page !== undefined) {
        for await (const item of page.watch(either)) yield { data: item };
        break;
      }
      yield { data: { page: "none", held: false } };
      await Bun.sleep(lookMs);
    }
    if (over.signal.aborted) yield { data: { ended: true } };
  } finally {
    clearInterval(timer);
  }
}
