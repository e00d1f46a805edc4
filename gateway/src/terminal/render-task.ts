import { AppError } from "manyhands/internal/core/errors";
import type { EventOf } from "manyhands/internal/core/events/events";
import { writtenEvent } from "manyhands/internal/core/events/read-event";
import { ownCommand } from "manyhands/internal/core/release";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { ShownState, TaskItem } from "../tasks/task-item.ts";
import { onInterrupt } from "./interrupts.ts";
import { render } from "./render.ts";
import { safeJson, safeText } from "./safe-text.ts";
import type { Terminal } from "./terminal.ts";
import { newView, type TerminalView } from "./terminal-view.ts";

/** The task at the end of its stream: its state and what it produced. */
export type TaskOutcome = {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: ShownState;
  /** The answer, a question, or the cause of a failure. */
  readonly text: string;
  /** What a failure is called, where the journal says it. */
  readonly code?: string;
  readonly artifacts: readonly EventOf<"artifact-added">[];
  readonly view: TerminalView;
};

/** Where and how a task is rendered. */
type RenderTaskOptions = {
  /** Cancels the task on Ctrl-C; without it, Ctrl-C only stops watching. */
  readonly client: Pick<AgentClient, "cancel"> | undefined;
  readonly terminal: Terminal;
  /** Whether Esc cancels it too. */
  readonly cancelsOnEscape?: boolean;
  /** Items as JSON lines instead of text. */
  readonly json?: boolean | undefined;
  /** What the terminal already shows of the task. */
  readonly view?: TerminalView;
};

const cancelTimeoutMs = 20_000;

/**
 * Shows a task until it ends, waits or is paused. The first Ctrl-C asks the agent to cancel it and
 * keeps showing it; the second leaves. Rejects with an AppError when the agent cannot be reached.
 */
export async function renderTask(
  open: (signal: AbortSignal) => AsyncIterable<TaskItem>,
  options: RenderTaskOptions,
): Promise<TaskOutcome> {
  const leave = new AbortController();
  const stop = new AbortController();
  const seen: Seen = {
    taskId: "",
    contextId: "",
    state: "submitted",
    text: "",
    artifacts: [],
    view: options.view ?? newView,
  };
  let isCanceling = false;
  const begin = () => {
    if (!isCanceling) void cancel(seen, options, leave);
    isCanceling = true;
  };
  const interrupts = onInterrupt(
    () => (isCanceling ? leave.abort() : begin()),
    () => leave.abort(),
  );
  const release = options.cancelsOnEscape === true ? options.terminal.onEscape(begin) : undefined;
  try {
    const items = open(AbortSignal.any([leave.signal, stop.signal]))[Symbol.asyncIterator]();
    for (let item = await items.next(); item.done !== true; item = await nextOf(items, seen)) {
      note(seen, item.value, options);
    }
  } catch (error) {
    if (!leave.signal.aborted) throw whereItIs(error, seen);
  } finally {
    stop.abort();
    release?.();
    interrupts.dispose();
  }
  if (leave.signal.aborted && options.client !== undefined) seen.state = "canceled";
  return { ...seen };
}

/** Items from before a pause arrive at once; after this much silence the task is still paused. */
const quietMs = 500;

/** The next item; for a paused task, only one that is already there. */
async function nextOf(items: AsyncIterator<TaskItem>, { state }: Seen): Promise<IteratorResult<TaskItem>> {
  const next = items.next();
  if (state !== "paused") return next;
  const quiet = Promise.withResolvers<IteratorResult<TaskItem>>();
  const timer = setTimeout(() => quiet.resolve({ done: true, value: undefined }), quietMs);
  try {
    return await Promise.race([next, quiet.promise]);
  } finally {
    clearTimeout(timer);
    // Nobody reads this promise after a timeout.
    next.catch(() => undefined);
  }
}

/** A started task continues without its watcher: the error says how to watch it again. */
function whereItIs(error: unknown, { taskId }: Seen): unknown {
  if (!(error instanceof AppError) || taskId === "") return error;
  const how = `The run continues; follow it with: ${ownCommand} runs watch ${taskId}`;
  return new AppError(error.code, `${error.message.replace(/\.$/, "")}. ${how}`, { cause: error });
}

type Seen = { -readonly [Key in keyof TaskOutcome]: TaskOutcome[Key] };

function note(seen: Seen, item: TaskItem, { json, terminal }: RenderTaskOptions): void {
  if (item.kind === "state") {
    seen.taskId = item.taskId;
    seen.contextId = item.contextId;
    seen.state = item.state;
    if (item.text !== undefined) seen.text = item.text;
  }
  if (item.kind === "event" && item.event.type === "run-paused") {
    seen.state = "paused";
    seen.text = item.event.error?.message ?? "It needs a person.";
  }
  if (item.kind === "event" && item.event.type === "run-resumed") seen.state = "working";
  if (item.kind === "event" && item.event.type === "run-ended" && item.event.status === "failed")
    if (item.event.error !== undefined) seen.code = item.event.error.code;
  if (item.kind === "event" && item.event.type === "artifact-added") seen.artifacts = [...seen.artifacts, item.event];
  const rendered = render(seen.view, item, terminal.style);
  seen.view = rendered.view;
  terminal.out(json ? `${safeJson(written(item))}\n` : rendered.text);
}

/**
 * Asks to cancel the task and waits for its end; leaves when there is no task yet or it does not
 * end in time.
 */
async function cancel(seen: Seen, { client, terminal }: RenderTaskOptions, leave: AbortController): Promise<void> {
  if (client === undefined || seen.taskId === "") return leave.abort();
  terminal.say("\nCanceling … (Ctrl-C again to leave at once)");
  setTimeout(() => leave.abort(), cancelTimeoutMs).unref();
  try {
    await client.cancel(seen.taskId, { signal: leave.signal });
  } catch (error) {
    if (error instanceof AppError && !leave.signal.aborted)
      terminal.say(`Could not cancel: ${safeText(error.message)}`);
    leave.abort();
  }
}

/** An item as programs read it: events in their stored form. */
function written(item: TaskItem): object {
  return item.kind === "event" ? { ...item, event: writtenEvent(item.event) } : item;
}
