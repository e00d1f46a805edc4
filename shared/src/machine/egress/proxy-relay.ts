import type { Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Copies between two connections until either ends, both being closed then. `cut` when more came
 * back than is let through.
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
    // Each of two pipelines watches both sockets from several sides, which looks like a leak to
    // Node's count.
    socket.setMaxListeners(30);
  }
  let cut = false;
  const counted = countBytes(answerBytes, () => {
    cut = true;
  });
  // A connection that breaks off is the ordinary end of a tunnel.
  await Promise.allSettled([
    pipeline(client, target),
    pipeline(target, counted, client).finally(() => {
      if (cut) end();
    }),
  ]);
  end();
  return cut ? "cut" : "ended";
}

/** Passes on so many bytes and fails with the next. */
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
