import { AppError } from "manyhands/internal/core/errors";
import type { JournalEvent } from "manyhands/internal/core/events/events";
import type { Part, UserMessage } from "manyhands/internal/core/message";
import type { Run } from "manyhands/internal/core/runs/run";
import type { AgentOutput } from "manyhands/internal/core/runs/task";
import { askPerson } from "manyhands/internal/core/tools/question";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import type { KitCapabilities } from "./kit-server.ts";

/** What a behaviour works with. */
type Stage = {
  readonly run: Run;
  readonly artifacts: ArtifactStore;
  readonly otherwise: KitCapabilities["otherwise"];
};

/**
 * What the kits' contracts ask of a server, by how the id of a message begins, or else its texts.
 * What is a text is the answer to a task.
 */
const behaviours: Readonly<Record<string, (stage: Stage) => Promise<string | AgentOutput>>> = {
  "tck-complete-task": async () => "Hello from TCK",
  "tck-artifact-text": async () => "Generated text content",
  "tck-artifact-file-url": (stage) =>
    showing(stage, { type: "url", url: "https://example.com/output.txt", name: "output.txt", mediaType: "text/plain" }),
  "tck-artifact-file": async (stage) => showing(stage, await file(stage)),
  "tck-artifact-data": (stage) => showing(stage, { type: "data", data: { key: "value", count: 42 } }),
  "tck-message-response": async () => ({ answer: "Direct message response", reply: true }),
  "tck-input-required": async ({ run, otherwise }) => {
    for (
      let reply: UserMessage | undefined;
      reply === undefined || otherwise === "tck-input-required" || wantsMore(reply);
    )
      reply = await askPerson(run, { question: "What else?", kind: "question" });
    return "done";
  },
  "tck-reject-task": async () => {
    throw new AppError("rejected", "rejected");
  },
  "tck-stream-001": async () => "Stream hello from TCK",
  "tck-stream-002": async () => "done",
  "tck-stream-003": async () => "Stream task lifecycle",
  "tck-stream-ordering-001": async () => "Ordered output",
  "tck-stream-artifact-text": async () => "Streamed text content",
  "tck-stream-artifact-file": async (stage) => showing(stage, await file(stage)),
  "tck-stream-artifact-chunked": async () => "chunk-1 chunk-2",
  // Of ACTS.
  "tck-auth-required": async ({ run }) => {
    await askPerson(run, { question: "May I?", kind: "authorization" });
    return "authorized";
  },
  "tck-task-failure": async () => {
    throw new AppError("invalid_input", "It cannot be done.");
  },
  "tck-multi-turn": async ({ run }) => {
    for (let reply: UserMessage | undefined; !startsWith(reply, "done"); )
      reply = await askPerson(run, { question: "What else?", kind: "question" });
    return "done";
  },
  "tck-cancel": async ({ run }) => {
    await run.sleep(600_000);
    return "done";
  },
  "tck-long-running": async ({ run }) => {
    await run.sleep(1_000);
    return "done";
  },
  "tck-stream-basic": async () => "Streamed content",
  "tck-stream-chunked": async ({ run }) => {
    const chunks = ["chunk one ", "chunk two ", "chunk three"];
    return run.step("chunks", async (step) => {
      let at = 0;
      for (const text of chunks) {
        step.progress({ type: "text-delta", text, at, isAnswer: true });
        at += text.length;
        await Bun.sleep(50);
      }
      return chunks.join("");
    });
  },
  // Twice the kit's timeout of a stream.
  "test-resubscribe-message-id": async ({ run }) => {
    await run.sleep(4_000);
    return "done";
  },
};

/** Does what the message asks for and returns the output of its run. */
export async function behave(stage: Stage, { messageId, parts }: UserMessage): Promise<AgentOutput> {
  const asked = [messageId, ...parts.map((part) => (part.type === "text" ? part.text : ""))];
  // `tck-artifact-file` begins `tck-artifact-file-url`, too.
  const names = Object.keys(behaviours).toSorted((one, other) => other.length - one.length);
  const name = asked.flatMap((text) => names.filter((one) => text.startsWith(one)))[0] ?? stage.otherwise;
  stage.run.emit({ type: "step-started", step: 1, maxSteps: 1 } satisfies JournalEvent);
  const output = (await behaviours[name]?.(stage)) ?? "done";
  return typeof output === "string" ? { answer: output } : output;
}

/** The kit sends a task several messages, the last with the id of another behaviour. */
function wantsMore(message: UserMessage): boolean {
  return startsWith(message, "TCK history message");
}

function startsWith(message: UserMessage | undefined, text: string): boolean {
  const [first] = message?.parts ?? [];
  return first?.type === "text" && first.text.startsWith(text);
}

async function showing({ run }: Stage, part: Part): Promise<string> {
  const artifactId = `${run.id}/shown`;
  run.emit({ type: "artifact-added", artifactId, name: "shown", parts: [part] } satisfies JournalEvent);
  return "done";
}

function file({ run, artifacts }: Stage): Promise<Part> {
  const about = { name: "output.txt", mediaType: "text/plain" };
  return run.step("file", async () => ({
    type: "file",
    ...(await artifacts.put(new TextEncoder().encode("tck"), about)),
  }));
}
