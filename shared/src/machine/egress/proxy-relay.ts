import type { Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Copies data between two connections until either ends, then closes both. Returns `cut` when more
 * bytes came back than allowed.
 */
export async function relay(
  client: Socket,
  target: Socket,
  { answerBytes, idleMs }: { readonly answerBytes: number; readonly idleMs: number },
): Promise<"ended" | "cut"> {
  const end = () => {
    client.destroy();
    target.destroy();
  };
  for (const socket of [client, target]) {
    socket.setTimeout(idleMs, end);
    // Each of two pipelines adds several listeners to both sockets, which Node would take for a
    // leak.
    socket.setMaxListeners(30);
  }
  let cut = false;
  const counted = countBytes(answerBytes, () => {
    cut = true;
  });
  // A tunnel normally ends because one of its connections breaks off.
  await Promise.allSettled([
    pipeline(client, target),
    pipeline(target, counted, client).finally(() => {
      if (cut) end();
    }),
  ]);
  end();
  return cut ? "cut" : "ended";
}

/** Passes on `most` bytes and fails with the next one. */
export function countBytes(most: number, onMore: () => void): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      if (passed <= most) return done(null, chunk);
      onMore();
      done(new Error("more bytes than are let through"));
    },
  });
}
