import { type Engine, type RunRecord, terminalStatuses } from "manyhands/internal/core/runs/engine";
import type { Call, Calls, Ids } from "./ids.ts";

/** A server to walk: every request names its caller in `X-User`. */
export type Face = { readonly url: string; readonly engine: Engine; readonly asked: Asked };

/** What a server asked of its engine since it was last read. */
export type Asked = {
  read(): string[];
  /** Remembers every look at this run; of others, a cache decides whether their events are read. */
  watch(runId: string): void;
};

/** An engine that remembers what is asked of it, and the memory. */
export function remembered(): { wrap(real: Engine): Engine; asked: Asked } {
  const lines = new Set<string>();
  const watched = new Set<unknown>();
  const wrap = (real: Engine) =>
    Object.fromEntries(
      Object.entries(real).map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          if (name !== "events" || watched.has(args[0])) lines.add(withoutIds(`${name} ${JSON.stringify(args)}`));
          return (method as (...args: unknown[]) => unknown)(...args);
        },
      ]),
    ) as unknown as Engine;
  const read = () => {
    const all = [...lines].sort();
    lines.clear();
    return all;
  };
  return { wrap, asked: { read, watch: (runId) => void watched.add(runId) } };
}

/** An answer, and what the server asked of its engine for it; ids and times aside. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly asked: readonly string[];
};

const longestMs = 20_000;

/**
 * Headers that no answer decides: the time, the length of its ids' text, and whether a stream had
 * ended when its head was sent.
 */
const passing = ["date", "content-length", "transfer-encoding"];

/** Sends a request as `user` and reads its answer to the end. */
export async function answerTo({ url, asked }: Face, call: Call, user: string): Promise<Answer> {
  asked.read();
  const { method = "GET", path, headers = {}, body } = call;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { "X-User": user, ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(longestMs),
  });
  const text = await response.text();
  const kept = [...response.headers].filter(([name]) => !passing.includes(name));
  return {
    status: response.status,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, withoutIds(value)])),
    body: withoutIds(text),
    asked: asked.read(),
  };
}

/** What another has, and ids of the same form that never existed. */
export type Known = { readonly others: Ids; readonly unused: Ids };

/**
 * Sends a route's requests twice as `user`, with another's ids and with ids that never existed;
 * returns the differences, by the request's name.
 */
export async function differences(
  face: Face,
  [route, calls]: readonly [string, Calls],
  { others, unused }: Known,
  user: string,
): Promise<object[]> {
  const never = calls(unused);
  const found: object[] = [];
  for (const [n, call] of calls(others).entries()) {
    const missing = never[n];
    if (missing === undefined) throw new Error(`${route} makes other requests of other ids`);
    const expected = await answerTo(face, missing, user);
    const answer = await answerTo(face, call, user);
    if (!Bun.deepEquals(answer, expected)) found.push({ route, name: call.name, answer, expected });
  }
  return found;
}

/** Everything that is stored of a principal's runs, except how far its receivers have been told. */
export async function storedOf(engine: Engine, principal: string): Promise<object[]> {
  const { runs } = await engine.list({ principal, limit: 1_000 });
  return Promise.all(
    runs
      .toSorted((one, other) => one.id.localeCompare(other.id))
      .map(async (run) => ({
        run: run.kind.endsWith("/push") ? placed(run) : run,
        events: await engine.events(run.id),
      })),
  );
}

function placed({ id, kind, input, status }: RunRecord) {
  return { id, kind, input, isOver: terminalStatuses.includes(status) };
}

/**
 * The routes, `METHOD path` each, that a table has to have: all but middleware and refusals of
 * methods.
 */
export function routesOf(routes: readonly { readonly method: string; readonly path: string }[]): string[] {
  const named = routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
  const paths = new Set(routes.filter(({ method }) => method !== "ALL").map(({ path }) => path));
  const catching = routes.filter(({ method, path }) => method === "ALL" && !paths.has(path) && !isMiddleware(path));
  return [...new Set([...named, ...catching.map(({ path }) => `ALL ${path}`)])].sort();
}

function isMiddleware(path: string): boolean {
  return ["/*", "/.well-known/*", "/v1/*", "/console/*"].includes(path);
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function withoutIds(text: string): string {
  return (
    text
      .replaceAll(uuid, "ID")
      .replaceAll(/[0-9a-f]{64}/g, "SHA")
      .replaceAll(/\\"[0-9a-f]{8}\\"/g, "ENTRY")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      // The places of a session's own stream, which every answer in it moves on.
      // Said while nothing else is, which is a matter of time.
      .replaceAll(/^: .*\n\n/gm, "")
      .replaceAll(/^id: \d+$/gm, "id: N")
      .replaceAll(/"(at|created|createdAt|updatedAt)":\s*\d+/g, '"$1":0')
  );
}
