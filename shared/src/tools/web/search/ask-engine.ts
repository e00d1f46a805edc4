import type * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { jsonOf } from "../../../core/json.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { decodeText } from "../../page/decode.ts";
import { userAgent } from "../../page/robots.ts";

/**
 * A request to a search engine: `query` is encoded into the address, `json` is the body of a POST.
 */
export type EngineRequest = {
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

const timeoutMs = 8_000;
const maxBytes = 4_000_000;

/**
 * The text of an engine's response, within 8 s. Rejects as `Egress.fetch` does, and with
 * `unavailable` or `rate_limited` when the engine refuses.
 */
export async function askForText(
  egress: Egress,
  { url, query, json, headers, signal }: EngineRequest,
): Promise<string> {
  const address = new URL(url);
  for (const [name, value] of Object.entries(query ?? {})) address.searchParams.set(name, value);
  const answer = await egress.fetch({
    url: address,
    headers: { "user-agent": userAgent, ...(json !== undefined && { "content-type": "application/json" }), ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    signal,
    timeoutMs,
    maxBytes,
  });
  const { status } = answer;
  if (status === 429) throw new AppError("rate_limited", "asked too often (status 429)");
  if (status === 401 || status === 403)
    throw new AppError("unavailable", `refused (status ${status}); is its key right?`);
  if (status < 200 || status >= 300) throw new AppError("unavailable", `failed with status ${status}`);
  return decodeText(answer.body, answer.headers["content-type"] ?? "");
}

/** As `askForText`, for an engine that responds with JSON of the given shape. */
export async function askForJson<Shape extends z.ZodType>(
  egress: Egress,
  request: EngineRequest,
  shape: Shape,
): Promise<z.output<Shape>> {
  const text = await askForText(egress, { ...request, headers: { accept: "application/json", ...request.headers } });
  const parsed = shape.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new AppError("unavailable", "answered in a form that is not known");
}
