import type { VacuumAnswer, VacuumRequest } from "./vacuum-worker.ts";

/**
 * Rewrites a store without its unused space, or writes a copy of it to a new file. Rejects with
 * SQLite's reason and code, and the store's path.
 */
export async function vacuum(request: VacuumRequest): Promise<void> {
  const worker = new Worker(new URL("./vacuum-worker.ts", import.meta.url).href);
  try {
    const { promise, resolve, reject } = Promise.withResolvers<VacuumAnswer>();
    worker.onmessage = ({ data }: MessageEvent<VacuumAnswer>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(request);
    const { error, code } = await promise;
    if (error !== undefined) throw Object.assign(new Error(error), { code, path: request.path });
  } finally {
    worker.terminate();
  }
}
