import { signal } from "@preact/signals";

const tokenKey = "manyhands-token";

/** An error response of the gateway: its code, and its detail as the message. */
export class ProblemError extends Error {
  readonly code: string;
  readonly status: number;
  constructor({ code, detail, status }: { code?: string; detail?: string; status: number }) {
    super(detail ?? `The gateway answered with status ${status}.`);
    this.code = code ?? "unknown";
    this.status = status;
  }
}

/** The gateway cannot be reached: the browser's own message for it says less, in its own words. */
export class UnreachableError extends TypeError {
  constructor(cause: unknown) {
    super("The gateway cannot be reached.", { cause });
  }
}

/** Fetches as the browser does; rejects with an `UnreachableError` when nothing answers. */
async function reach(path: string, init: RequestInit): Promise<Response> {
  return fetch(path, init).catch((error: unknown) => {
    throw error instanceof TypeError ? new UnreachableError(error) : error;
  });
}

/** Whether the gateway refused with this code. */
export function refusedAs(error: unknown, code: string): boolean {
  return error instanceof ProblemError && error.code === code;
}

/** The question for a token: whether one was refused before, and where the answer goes. */
export type TokenQuestion = { readonly wasWrong: boolean; answer(token: string): void };

/** The open question for a token, which the token dialog shows. */
export const tokenQuestion = signal<TokenQuestion | undefined>(undefined);

/** The secret of the link by which this page shows one run; undefined in the console itself. */
const link: { secret: string | undefined } = { secret: undefined };

/** From now on, this page reads what a link shows, and nothing else. */
export function readByLink(secret: string): void {
  link.secret = secret;
}

/** Whether this page shows one run to the reader of a link, who sees no workspaces. */
export const isByLink = (): boolean => link.secret !== undefined;

const asking: { answer: Promise<string> | undefined } = { answer: undefined };

/** Callers that ask while the dialog is open share its answer. */
function askToken(wasWrong: boolean): Promise<string> {
  asking.answer ??= new Promise<string>((resolve) => {
    tokenQuestion.value = { wasWrong, answer: resolve };
  }).finally(() => {
    asking.answer = undefined;
    tokenQuestion.value = undefined;
  });
  return asking.answer;
}

/**
 * A request to this gateway. If it requires a token, the user is asked for it once, and the token
 * is kept until the tab closes. Rejects with a ProblemError when the gateway refuses, with an
 * UnreachableError, which is a TypeError, when it cannot be reached.
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  if (link.secret !== undefined) return requestByLink(path, init, link.secret);
  for (;;) {
    const token = sessionStorage.getItem(tokenKey);
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    const response = await reach(`.${path}`, { ...init, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw new ProblemError(await problemOf(response));
    // Another request may have asked for it meanwhile.
    if (sessionStorage.getItem(tokenKey) === token) sessionStorage.setItem(tokenKey, await askToken(token !== null));
  }
}

async function requestByLink(path: string, init: RequestInit, secret: string): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${secret}`);
  const response = await reach(`./shared${path}`, { ...init, headers, credentials: "omit" });
  if (response.ok) return response;
  throw new ProblemError(await problemOf(response));
}

/**
 * The same request as `request` sends it, whatever the gateway answers; nobody is asked for a
 * token.
 */
export function rawRequest(path: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(tokenKey);
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  return reach(`.${path}`, { ...init, headers });
}

/** Whether requests carry a token. */
export const hasToken = (): boolean => sessionStorage.getItem(tokenKey) !== null;

async function problemOf(response: Response): Promise<{ code?: string; detail?: string; status: number }> {
  const body = await response.json().catch(() => ({}));
  return { ...body, status: response.status };
}

/** Gets JSON from a path. */
export async function get<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return (await request(path, { ...(signal && { signal }) })).json();
}

/** Posts JSON and returns the JSON of the response. */
export async function post<Body>(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Body> {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  return (await request(path, init)).json();
}

/** Deletes what is at a path. */
export async function remove(path: string): Promise<void> {
  await request(path, { method: "DELETE" });
}

/** A short text that is another one for another token; nothing can be read from it. */
export function tokenMark(): string {
  let mark = 0;
  for (const character of sessionStorage.getItem(tokenKey) ?? "")
    mark = (Math.imul(mark, 31) + character.charCodeAt(0)) | 0;
  return (mark >>> 0).toString(36);
}

/**
 * A unique key for a request. `crypto.randomUUID` is missing when the page came by plain HTTP from
 * another machine.
 */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
