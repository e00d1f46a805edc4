import { createSlots } from "../../core/async/slots.ts";
import { AppError } from "../../core/errors.ts";
import type { Extract, ExtractRequest } from "./extract.ts";

type Reply = { readonly extract: Extract } | { readonly problem: string };

/** How many documents are read at once: each may take hundreds of megabytes of the server's. */
const atOnce = 4;

const slots = createSlots(atOnce);

/**
 * `extract` in a separate thread, which ends with the call: a document built to take forever costs
 * `timeoutMs`, not the server. While four others are read it waits. Rejects with `timeout`, with
 * `unsupported` when the document cannot be read, or with the signal's reason.
 */
export function extractInWorker(request: ExtractRequest, timeoutMs: number, signal: AbortSignal): Promise<Extract> {
  return slots.within(signal, () => extractNow(request, timeoutMs, signal));
}

async function extractNow(request: ExtractRequest, timeoutMs: number, signal: AbortSignal): Promise<Extract> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./page-worker.ts", import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const timer = setTimeout(
    () => reject(new AppError("timeout", `The document took longer than ${timeoutMs / 1000} s to read.`)),
    timeoutMs,
  );
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data);
  worker.onerror = ({ message }) => resolve({ problem: message });
  try {
    worker.postMessage(request);
    const reply = await promise;
    if ("extract" in reply) return reply.extract;
    throw new AppError("unsupported", `The document cannot be read: ${reply.problem}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    worker.terminate();
  }
}
