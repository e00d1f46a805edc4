import { AgentCard, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type RequestOptions,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from "@a2a-js/sdk/client";
import { sleep } from "../../core/async/sleep.ts";
import { principalHeader } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import {
  agentExtension,
  budgetExtension,
  cancelMessageExtension,
  dedupeExtension,
  hitlExtension,
  journalExtension,
  metadataKeys,
  usageExtension,
} from "../extensions.ts";
import { endsTurn, isSettled, isTerminal } from "../task-state.ts";
import { boundedFetch, type Fetch } from "./client-fetch.ts";
import { type ClientRetry, type RetryPolicy, retrying } from "./client-retry.ts";
import { followTask, type Peer } from "./client-stream.ts";
import { findTask } from "./find-task.ts";
import { type OutgoingMessage, sendRequest } from "./outgoing-message.ts";
import { agentAt, isSameServer } from "./server-address.ts";
import { replyAsTask, type TaskUpdate } from "./task-update.ts";

/** Where an agent reports on a task, and the token that it sends along. */
export type NotificationAddress = { readonly id: string; readonly url: string; readonly token: string };

/** Options of every call. */
export type CallOptions = { readonly signal?: AbortSignal };

/**
 * Another agent, reached over A2A 1.0 or 0.3. Calls that fail temporarily are retried and broken
 * streams are resumed; from an agent of this system, without gaps or repetitions. All methods
 * reject with an AppError, or with the signal's reason.
 */
export type A2aClient = {
  readonly card: AgentCard;
  /** Whether its card says that it is an agent of this system. */
  readonly ours: boolean;
  /** The client, calling for this principal: for agents that take our word for it. */
  actingFor(principal: string): A2aClient;
  /**
   * Sends a message and resolves as soon as the agent has it; one of this system waits up to
   * `waitMs` for the task to settle. `isReply`: it replied without a task, so this one is made up.
   */
  submit(
    message: OutgoingMessage,
    options?: CallOptions & { readonly waitMs?: number },
  ): Promise<{ readonly task: Task; readonly isReply: boolean }>;
  /** Sends a message and yields updates until the task ends or asks. */
  stream(message: OutgoingMessage, options?: CallOptions): AsyncGenerator<TaskUpdate, void, undefined>;
  /** Yields a task's updates until it ends; with `after`, those after that place in its journal. */
  watch(taskId: string, options?: CallOptions & { after?: number }): AsyncGenerator<TaskUpdate, void, undefined>;
  /** Sends a message and resolves when the task ends or asks a question. */
  send(message: OutgoingMessage, options?: CallOptions): Promise<Task>;
  /** Registers an address for push notifications about a task. Not retried. */
  notify(taskId: string, receiver: NotificationAddress, options?: CallOptions): Promise<void>;
  /** Answers a task's question. */
  answer(taskId: string, text: string, options?: CallOptions): Promise<Task>;
  get(taskId: string, options?: CallOptions): Promise<Task>;
  cancel(taskId: string, options?: CallOptions): Promise<Task>;
  /**
   * Cancels the task of a message whose response was lost. An agent of this system also ignores the
   * message if it arrives later; any other agent is asked for its tasks. Undefined if there is no
   * such task. Rejects as `cancel` does.
   */
  cancelMessage(messageId: string, options?: CallOptions & { readonly contextId?: string }): Promise<Task | undefined>;
};

/** How a client calls. Times are in milliseconds; the defaults suit agents of this system. */
export type A2aClientOptions = {
  readonly fetch?: Fetch;
  /**
   * Maps an address to the one it is reached at from here, since an agent of this system may name
   * its public one. Left out: addresses are used as they are.
   */
  readonly inside?: (url: string) => string;
  /** Added to every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Rejects if an agent with this card may not be used; called before anything is sent to it. */
  readonly admit?: (card: AgentCard) => Promise<void>;
  /** The caller's name for the agent, by which errors call it. */
  readonly called?: string;
  readonly responseMs?: number;
  readonly idleMs?: number;
  readonly retry?: RetryPolicy;
  readonly signal?: AbortSignal;
};

/** How long the answer to a message waits for its task to end, which saves a further request. */
const soonMs = 2_000;
const longestCard = 1024 * 1024;
const longestAnswer = 32 * 1024 * 1024;

/**
 * Reads the card at a server's address, or at the card's own, and makes a client for its agent. The
 * client calls no server but the card's. Rejects with `forbidden` if the card names only other
 * servers.
 */
export async function createA2aClient(address: string, options: A2aClientOptions = {}): Promise<A2aClient> {
  const { inside = (named: string) => named } = options;
  const url = inside(address);
  const { headers = {}, responseMs = 60_000, idleMs = 30_000 } = options;
  const agent = agentAt(url, options.called);
  const retry = { ...(options.retry ?? { retries: 4, firstPauseMs: 250 }), agent };
  const inner: Fetch = options.fetch ?? fetch;
  const bounds = { responseMs, idleMs, maxBytes: longestAnswer, agent };
  const fetchImpl = boundedFetch(inner, headers, bounds) as typeof fetch;
  // The SDK's resolver takes no signal.
  const unlessAborted: Fetch = (input, init) =>
    inner(input, { ...init, signal: eitherOf(init?.signal, options.signal) });
  const cardFetch = boundedFetch(unlessAborted, headers, { ...bounds, maxBytes: longestCard }) as typeof fetch;
  const legacyCompat = { enabled: true };
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl: cardFetch, legacyCompat });
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
    cardResolver,
  });
  const [base, path] = cardAddress(url);
  return retrying(retry, options.signal, async () => {
    const found = await cardResolver.resolve(base, path);
    // The resolver may return the raw JSON; the codec gives every field its type.
    const card = AgentCard.fromJSON(AgentCard.toJSON(found));
    await options.admit?.(card);
    const sdk = await factory.createFromAgentCard({ ...found, supportedInterfaces: interfacesAt(url, card, inside) });
    return clientOf(sdk, card, retry);
  });
}

/**
 * The interfaces on the card's own server: a card cannot send an agent's credentials and tasks to
 * another.
 */
function interfacesAt(
  url: string,
  { supportedInterfaces }: AgentCard,
  inside: (url: string) => string,
): AgentCard["supportedInterfaces"] {
  const reached = supportedInterfaces.map((one) => ({ ...one, url: inside(one.url) }));
  const own = reached.filter((one) => isSameServer(one.url, url));
  const [elsewhere] = supportedInterfaces;
  if (own.length > 0 || elsewhere === undefined) return own;
  const place = URL.parse(elsewhere.url)?.origin ?? JSON.stringify(elsewhere.url.slice(0, 200));
  throw new AppError(
    "forbidden",
    `The card at ${new URL(url).origin} says that its agent is at ${place}, another server: nothing is sent there. If you mean that server, use its address.`,
  );
}

function eitherOf(...signals: readonly (AbortSignal | null | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal instanceof AbortSignal));
}

function clientOf(sdk: Client, card: AgentCard, retry: ClientRetry, principal?: string): A2aClient {
  const offers = (extension: string) => card.capabilities?.extensions?.some(({ uri }) => uri === extension) ?? false;
  const ours = offers(agentExtension);
  // What an agent of this system requires is a setting of its operator, for callers from elsewhere.
  const required = card.capabilities?.extensions.filter((one) => one.required).map(({ uri }) => uri) ?? [];
  const understood = [usageExtension, budgetExtension].filter(offers);
  // An agent of this system asks and is answered in words, which say the same.
  const activated = ours
    ? [...new Set([journalExtension, dedupeExtension, ...understood, ...required])]
    : [...understood, ...[hitlExtension].filter(offers)];
  const optionsWith =
    (extensions: readonly string[]) =>
    ({ signal }: CallOptions, after?: number): RequestOptions => ({
      ...(signal === undefined ? {} : { signal }),
      serviceParameters: {
        ...(extensions.length > 0 ? ServiceParameters.create(withA2AExtensions(...extensions)) : {}),
        ...(after === undefined ? {} : { "Last-Event-ID": String(after) }),
        ...(principal === undefined ? {} : { [principalHeader]: principal }),
      },
    });
  const requestOptions = optionsWith(activated);
  const get = (id: string, options: CallOptions = {}) =>
    retrying(retry, options.signal, () => sdk.getTask({ tenant: "", id }, requestOptions(options)));
  const cancel = (id: string, options: CallOptions = {}, metadata?: Record<string, string>) =>
    retrying(retry, options.signal, () => sdk.cancelTask({ tenant: "", id, metadata }, requestOptions(options)));
  const peer = { sdk, get, retry, ours, requestOptions };
  const stream: A2aClient["stream"] = (message, options = {}) =>
    followTask(peer, { request: sendRequest(message, false), ...options });
  const unseen = activated.filter((uri) => uri !== journalExtension || required.includes(uri));
  const unwatched = { ...peer, requestOptions: optionsWith(unseen) };
  const send: A2aClient["send"] = async (message, options = {}) => {
    if (card.capabilities?.streaming !== true) return poll(peer, sendRequest(message, true), options);
    if (!ours) return endOf(stream(message, options));
    const request = sendRequest(message, true, soonMs);
    const { task, isReply } = await submit(unwatched, request, options);
    if (isReply || endsTurn(task.status?.state ?? 0)) return task;
    return endOf(followTask(peer, { request, taskId: task.id, ...options }));
  };
  return {
    card,
    ours,
    actingFor: (other) => clientOf(sdk, card, retry, other),
    submit: (message, { waitMs, ...options } = {}) => submit(peer, sendRequest(message, true, waitMs), options),
    stream,
    send,
    get,
    watch: (taskId, options = {}) => followTask(peer, { taskId, ...options }),
    notify: (taskId, receiver, options = {}) =>
      retrying({ ...retry, retries: 0 }, options.signal, async () => {
        const config = { tenant: "", taskId, ...receiver, authentication: undefined };
        await sdk.createTaskPushNotificationConfig(config, requestOptions(options));
      }),
    answer: (taskId, text, options) => send({ taskId, text }, options),
    cancel,
    async cancelMessage(messageId, { contextId, ...options } = {}) {
      if (offers(cancelMessageExtension)) return cancel("-", options, { [metadataKeys.messageId]: messageId });
      const task = await findTask(sdk, retry, messageId, { contextId, ...requestOptions(options) });
      return task && (isTerminal(task.status?.state ?? 0) ? task : cancel(task.id, options));
    },
  };
}

async function endOf(updates: AsyncGenerator<TaskUpdate>): Promise<Task> {
  for await (const update of updates) if (update.kind === "end") return update.task;
  throw new Error("A stream of updates ended without an end update");
}

/** For agents that do not stream: sends without waiting, then polls until the task settles. */
async function poll(peer: Peer, request: SendMessageRequest, options: CallOptions): Promise<Task> {
  const sent = await submit(peer, request, options);
  if (sent.isReply) return sent.task;
  let { task } = sent;
  for (let pauseMs = 500; !isSettled(task.status?.state ?? 0); pauseMs = Math.min(pauseMs * 1.5, 5_000)) {
    await sleep(pauseMs, options.signal);
    task = await peer.get(task.id, options);
  }
  return task;
}

async function submit({ sdk, retry, ours, requestOptions }: Peer, request: SendMessageRequest, options: CallOptions) {
  const once = ours ? retry : { ...retry, retries: 0 };
  const sent = await retrying(once, options.signal, () => sdk.sendMessage(request, requestOptions(options)));
  return "messageId" in sent ? { task: replyAsTask(sent), isReply: true } : { task: sent, isReply: false };
}

/** Base and path for the SDK's resolver, which drops what follows the last slash of a base. */
function cardAddress(url: string): [base: string, path?: string] {
  return url.endsWith(".json") ? [url, ""] : [url.endsWith("/") ? url : `${url}/`];
}
