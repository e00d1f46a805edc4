import { answerWithin } from "../core/async/at-most.ts";

/** More than any issuer's description, keys or tokens. */
const maxBytes = 2 ** 20;

/**
 * How an issuer is asked: what it answers is read up to 1 MB, since an issuer that has gone wrong,
 * or another server in its place, must not fill our memory.
 */
export async function issuerFetch(url: string, init: RequestInit): Promise<Response> {
  return answerWithin(maxBytes, await fetch(url, init));
}
