/**
 * Sends as many blocking `SendMessage` calls as asked for over some connections, the next one on a
 * connection as soon as the last is answered, and prints how many a second were answered and the
 * milliseconds of each as JSON. A process of its own, over plain sockets: whatever the client
 * takes of the processors is missing to the servers that are compared, and `fetch` takes more than
 * twice as much of them. Before these it sends five on each connection that do not count: its own
 * code is slow until it is compiled.
 *
 *   bun send-messages.ts URL MESSAGES CONNECTIONS
 */
const [url = "", messages = "1", connections = "1"] = process.argv.slice(2);
const { hostname, host, port } = new URL(url);
const warmUp = 5 * Number(connections);
const bodies = Array.from({ length: warmUp + Number(messages) }, () => {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "nothing" }] };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
});
const head = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: `;
const times: number[] = [];
let answered = 0;
let measuredFrom = 0;

/** One connection, until all messages are sent. */
async function connection(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = 0;
  let answer = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        answer += chunk.toString("latin1");
        if (!isWhole(answer)) return;
        if (!answer.includes("TASK_STATE_COMPLETED")) return reject(new Error(`${url} answered ${answer}`));
        const now = performance.now();
        if (++answered > warmUp) times.push(now - begun);
        else measuredFrom = now;
        send();
      },
      error: (_, error) => reject(error),
      close: () => reject(new Error(`${url} closed the connection.`)),
    },
  });
  function send(): void {
    const body = bodies.pop();
    if (body === undefined) {
      resolve();
      return;
    }
    begun = performance.now();
    answer = "";
    socket.write(`${head}${body.length}\r\n\r\n${body}`);
  }
  send();
  await promise;
  socket.end();
}

/** Whether an HTTP answer, which says how long it is, has arrived with its whole body. */
function isWhole(answer: string): boolean {
  const end = answer.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  return end !== -1 && length !== undefined && answer.length >= end + 4 + Number(length);
}

await Promise.all(Array.from({ length: Number(connections) }, connection));
const rate = (times.length * 1_000) / (performance.now() - measuredFrom);
console.log(JSON.stringify({ rate, times }));

export {};
