import { join } from "node:path";
import fc from "fast-check";
import { rpc, textMessage } from "../../a2a/rpc.ts";
import type { Listening, Memory } from "./fuzz-server.ts";
import type { Known } from "./params.ts";
import { requests, type Sent } from "./requests.ts";
import { type Sender, senderTo } from "./send.ts";

/** What a fuzz is to do. */
export type FuzzOptions = {
  readonly subject: "agent" | "gateway" | "flow";
  /** Round n of a seed is the first round of the seed + n. */
  readonly seed: number;
  readonly count: number;
};

/** What became of it. */
export type FuzzResult = {
  /** How many requests of each binding ended in which way. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Each with its request and the seed that makes its round again. */
  readonly faults: readonly string[];
  /** What the server wrote to its log: the bugs it met. */
  readonly log: string;
  /** The server's memory after each round. */
  readonly memory: readonly Memory[];
};

/** How many requests are made between two measurements, of tasks of their own. */
export const roundSize = 500;

const atOnce = 64;

/** Sends generated requests to a server and judges its answers. */
export async function fuzz({ subject, seed, count }: FuzzOptions): Promise<FuzzResult> {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  const memory: Memory[] = [];
  await using server = await startServer(subject);
  using sender = senderTo(server.listening);
  for (let round = 0; round * roundSize < count; round++) {
    const known = await prepare(server.listening.url);
    const numRuns = Math.min(roundSize, count - round * roundSize);
    const sample = fc.sample(requests(known), { seed: seed + round, numRuns });
    await inLanes(sample, async (request) => {
      const fault = await sendAndCount(sender, request, outcomes);
      if (fault !== undefined) faults.push(`--seed ${seed + round}: ${fault}\n  ${described(request)}`);
    });
    memory.push(await server.memory());
  }
  return { outcomes, faults, memory, log: server.log() };
}

async function sendAndCount(sender: Sender, request: Sent, outcomes: Map<string, number>): Promise<string | undefined> {
  const { told, fault } = await sender.send(request);
  const name = `${request.over}: ${told}`;
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  return fault;
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Tasks in several states, a receiver and a page token, for the requests of a round. */
async function prepare(url: string): Promise<Known> {
  const call = async (method: string, params: object) => {
    const { body } = await rpc(url, method, params);
    if (body.error !== undefined) throw new Error(`${method}: ${JSON.stringify(body.error)}`);
    return body.result;
  };
  const task = async (name: string) => {
    const messageId = `${name}-${crypto.randomUUID()}`;
    return (await call("SendMessage", textMessage("hello", { messageId }))).task;
  };
  const asking = [await task("tck-input-required"), await task("tck-input-required"), await task("tck-input-required")];
  const ended = [await task("tck-complete-task"), await task("tck-artifact-data"), await task("tck-reject-task")];
  const [{ id: taskId }] = asking;
  await call("CreateTaskPushNotificationConfig", { taskId, id: "receiver", url: "http://127.0.0.1:1/hook" });
  const tasks = [...asking, ...ended];
  const { nextPageToken } = await call("ListTasks", { pageSize: 1 });
  return {
    host: new URL(url).host,
    tasks: tasks.map(({ id }) => id),
    contexts: tasks.map(({ contextId }) => contextId),
    receivers: ["receiver"],
    pageTokens: [nextPageToken],
  };
}

/** Enough of a request to make it again. */
function described(request: Sent): string {
  const text = (bytes: Uint8Array | undefined) =>
    JSON.stringify(
      Buffer.from(bytes ?? [])
        .toString("latin1")
        .slice(0, 1_500),
    );
  switch (request.over) {
    case "socket":
      return text(request.bytes);
    case "gRPC":
      return `${request.path} ${JSON.stringify(request.metadata)} ${Buffer.from(request.bytes).toString("base64").slice(0, 3_000)}`;
    default:
      return `${request.method} ${request.path.slice(0, 500)} ${JSON.stringify(request.headers)} ${text(request.body)}`;
  }
}

async function startServer(subject: FuzzOptions["subject"]) {
  const waiting: ((message: unknown) => void)[] = [];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "fuzz-server.ts"), subject], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
    ipc: (message) => waiting.shift()?.(message),
  });
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      waiting.push(resolve);
      child.exited.then((code) => reject(new Error(`The server ended with ${code}:\n${log}`)));
    });
  let log = "";
  const logging = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  return {
    listening: (await next()) as Listening,
    async memory() {
      const answer = next();
      child.send("memory");
      return (await answer) as Memory;
    },
    log: () => log,
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await child.exited;
      await logging;
    },
  };
}
