/** Below the ports that Linux and macOS give to outgoing connections and to listeners on port 0. */
const [first, count] = [10_000, 22_000];
const maxTries = 100;
/**
 * Processes with neighbouring ids begin far from each other, so that a port which is not yet
 * listened on is given out by nobody else.
 */
let given = process.pid * 97;

/**
 * A port that nobody listens on now, picked where the kernel picks none, so that it stays free for
 * the process that is about to take it; another one on each call.
 */
export function freePort(host = "127.0.0.1"): number {
  for (let tries = 1; ; tries++) {
    const port = first + (given++ % count);
    try {
      Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (tries === maxTries) throw error;
    }
  }
}
