import { rawRequest } from "../../api/client.ts";
import type { requestOf } from "./document.ts";

/** A response as far as it has come. */
export type Answered = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
  /** More came than is kept. */
  readonly isCut: boolean;
  readonly isDone: boolean;
  /** Milliseconds to the head of the response, and to its end so far. */
  readonly headMs: number;
  readonly totalMs: number;
};

/** Characters of a body that are kept. */
const longestBody = 200_000;

/** Sends a request and reports the response each time more of it has come. */
export async function send(
  { path, ...init }: ReturnType<typeof requestOf>,
  signal: AbortSignal,
  report: (answered: Answered) => void,
): Promise<void> {
  const startedAt = performance.now();
  const since = () => Math.round(performance.now() - startedAt);
  const response = await rawRequest(path, { ...init, signal });
  const { status, statusText } = response;
  const headMs = since();
  const about = { status, statusText, headers: [...response.headers], headMs };
  let text = "";
  let isCut = false;
  const tell = (isDone: boolean) => report({ ...about, text, isCut, isDone, totalMs: since() });
  tell(false);
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let chunk = await reader?.read(); chunk !== undefined && !chunk.done; chunk = await reader?.read()) {
    const more = decoder.decode(chunk.value, { stream: true });
    isCut ||= text.length + more.length > longestBody;
    text = (text + more).slice(0, longestBody);
    tell(false);
  }
  tell(true);
}
