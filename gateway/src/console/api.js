import { askToken } from "./token-dialog.js";

const tokenKey = "manyhands-token";

/** An error response of the gateway: its code, and its detail as the message. */
export class ProblemError extends Error {
  /** @param {{ code?: string, detail?: string, status: number }} problem */
  constructor({ code, detail, status }) {
    super(detail ?? `The gateway answered with status ${status}.`);
    this.code = code ?? "unknown";
    this.status = status;
  }
}

/**
 * A request to this gateway. If it requires a token, the user is asked for it once, and the token
 * is kept until the tab closes. Rejects with a ProblemError when the gateway refuses, with a
 * TypeError when it cannot be reached.
 *
 * @param {string} path @param {RequestInit} init @returns {Promise<Response>}
 */
export async function request(path, init = {}) {
  for (;;) {
    const token = sessionStorage.getItem(tokenKey);
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    const response = await fetch(`.${path}`, { ...init, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw new ProblemError(await problemOf(response));
    // Another request may have asked for it meanwhile.
    if (sessionStorage.getItem(tokenKey) === token) sessionStorage.setItem(tokenKey, await askToken(token !== null));
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  return { ...body, status: response.status };
}

/**
 * Gets JSON from a path.
 *
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function get(path, signal) {
  return (await request(path, { ...(signal && { signal }) })).json();
}

/**
 * Posts JSON and returns the JSON of the response.
 *
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} headers
 */
export async function post(path, body, headers = {}) {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  return (await request(path, init)).json();
}

/**
 * A unique key for a request. `crypto.randomUUID` is missing when the page came by plain HTTP from
 * another machine.
 */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
