import { AppError, type ErrorCode } from "manyhands/internal/core/errors";
import type { JournalEvent } from "manyhands/internal/core/events/events";
import type { Json } from "manyhands/internal/core/json";
import { messageSignal, type UserMessage } from "manyhands/internal/core/message";
import type { Run, RunDefinition, RunEvent, StepContext } from "manyhands/internal/core/runs/run";
import type { AgentInput } from "manyhands/internal/core/runs/task";

/** The name of the agent these tests serve. */
export const agentName = "scripted";

/**
 * An agent that does what the first word of its message says, and emits the events a real one
 * would: `answer TEXT`, `reply TEXT` (a mere reply), `ask QUESTION`, `authorize`, `work STEPS`,
 * `type WORDS…`, `relay TEXT, HOW` (as another agent writes it, `thought` or before it `asks`),
 * `late QUESTION` (which asks after 2.5 s), `wait MS`, `quiet MS` (which emits nothing until its
 * answer), `stubborn MS`, `fail CODE`, `bug`, `file NAME`, `listen`.
 */
export const scriptedAgent: RunDefinition = {
  kind: agentName,
  async execute(run, input) {
    const { message } = input as unknown as AgentInput;
    const [verb = "", ...words] = messageText(message).split(" ");
    const act = acts[verb] ?? acts.answer;
    if (act === undefined) throw new Error("no act");
    if (verb !== "quiet") run.emit(event({ type: "step-started", step: 1, maxSteps: 10 }));
    const answer = await act(run, words.join(" "), message);
    const artifactId = `${run.id}/answer`;
    run.emit(event({ type: "artifact-added", artifactId, name: "answer", parts: [{ type: "text", text: answer }] }));
    return { answer, ...(verb === "reply" && { reply: true }) };
  },
};

/**
 * A step that shows progress. It begins once all events before it are on disk, however slow that
 * is: until then no progress is shown, and later none of a step that has ended.
 */
function liveStep(run: Run, name: string, fn: (step: StepContext) => Promise<string>): Promise<string> {
  return run.step(name, fn, { effect: "once" });
}

type Act = (run: Run, rest: string, message: UserMessage) => Promise<string>;

const acts: Record<string, Act> = {
  answer: async (_, text) => text,
  reply: async (_, text) => text,
  ask: async (run, question) => {
    const asked = event({ type: "question-asked", question, kind: "question" });
    const reply = await run.signal<Json>(messageSignal, { reason: "input-required", events: [asked] });
    run.emit(event({ type: "step-started", step: 2, maxSteps: 10 }));
    return `heard ${messageText(reply as unknown as UserMessage)}`;
  },
  late: async (run, question, message) => {
    await run.sleep(2_500);
    return (await acts.ask?.(run, question, message)) ?? "";
  },
  authorize: async (run) => {
    const asked = event({ type: "question-asked", question: "May I?", kind: "authorization" });
    await run.signal<Json>(messageSignal, { reason: "auth-required", events: [asked] });
    return "authorized";
  },
  work: async (run, steps) => {
    for (let n = 1; n <= Number.parseInt(steps, 10); n++) {
      await run.step(`tool-${n}`, async (step) => {
        step.emit(event({ type: "tool-started", callId: `c${n}`, name: "bash", arguments: `{"n":${n}}` }));
        await Bun.sleep(3);
        const text = `é${n}`.repeat(n % 40);
        step.emit(event({ type: "tool-ended", callId: `c${n}`, name: "bash", text, isError: false, milliseconds: 3 }));
        return n;
      });
    }
    return `worked ${steps}`;
  },
  type: async (run, text) => {
    await liveStep(run, "model", async (step) => {
      for (const word of text.split(" ")) {
        step.progress({ type: "text-delta", text: word });
        await Bun.sleep(20);
      }
      return text;
    });
    return text;
  },
  draft: async (run, text) => {
    await liveStep(run, "model", async (step) => {
      let at = 0;
      for (const word of text.split(" ")) {
        step.signal.throwIfAborted();
        step.progress({ type: "text-delta", text: word, at });
        at += word.length;
        await Bun.sleep(20);
      }
      const usage = {
        inputTokens: 1,
        cachedInputTokens: 0,
        outputTokens: 1,
        costUsd: null,
        source: "provider",
      } as const;
      const toolCalls = [{ id: "c", name: "bash", arguments: "{}" }];
      step.emit(event({ type: "model-replied", text, toolCalls, usage, model: "m", milliseconds: 1 }));
      return text;
    });
    return text;
  },
  relay: async (run, rest) => {
    const [text = "", way] = rest.split(", ");
    const whose = { askId: "a", isAnswer: true };
    await liveStep(run, "ask", async (step) => {
      for (const [at, letter] of [...text].entries()) {
        step.progress({ type: "agent-writing", ...whose, text: letter, at });
        await Bun.sleep(20);
      }
      if (way === "thought") step.progress({ type: "agent-written", ...whose, text, isThought: true });
      await Bun.sleep(20);
      return text;
    });
    return way === "asks" ? ((await acts.ask?.(run, "which?", { messageId: "", parts: [] })) ?? "") : text;
  },
  quiet: async (run, ms, message) => {
    await acts.wait?.(run, ms, message);
    return "quiet";
  },
  wait: async (run, ms) => {
    await run.step("wait", async ({ signal }) => {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, Number.parseInt(ms, 10));
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      });
      return null;
    });
    return "waited";
  },
  stubborn: async (run, ms) => {
    await run.step("stubborn", async () => {
      await Bun.sleep(Number.parseInt(ms, 10));
      return null;
    });
    return "done anyway";
  },
  fail: async (_, code) => {
    throw new AppError(code as ErrorCode, "It cannot be done");
  },
  bug: async () => {
    throw new Error("SELECT * FROM secrets");
  },
  file: async (run, name, { parts }) => {
    const file = parts.find((part) => part.type === "file");
    if (file === undefined) return "no file";
    run.emit(event({ type: "artifact-added", artifactId: `${run.id}:file`, name, parts: [{ ...file, name }] }));
    return "see the file";
  },
  echo: async (_, __, { parts }) => JSON.stringify(parts),
  listen: async (run) => {
    const heard: string[] = [];
    for (let n = 1; heard.at(-1) !== "done" && n < 500; n++) {
      await run.step(`turn-${n}`, async () => {
        await Bun.sleep(10);
        return n;
      });
      for (const message of await run.poll<Json>(messageSignal))
        heard.push(messageText(message as unknown as UserMessage));
    }
    return heard.join(",");
  },
};

function event(from: JournalEvent): RunEvent {
  return from as unknown as RunEvent;
}

function messageText({ parts }: UserMessage): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
