import { type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";

/**
 * A model that writes one line per turn with `bash`, and knows what it was asked and what was kept.
 */
export type CountedScript = Pick<ScriptedModel, "close"> & {
  /** The base URL of an agent's model. */
  urlOf(agent: string): string;
  /** How often it was asked. */
  readonly asked: number;
  /** The lines that the task's agents have to write, one each turn. */
  linesOf(agent: string, task: string): readonly string[];
  /** What was paid for again although it was recorded, or recorded in more than one version. */
  paidTwice(answers: readonly string[]): readonly string[];
  /** Turns that were asked again, because the first reply was lost. */
  readonly askedAgain: number;
};

/** Turns of an agent that write a line each, before the one that ends its task. */
const turns = 3;
/** So long a reply takes: long enough that it is often what a kill interrupts. */
const replyMs = 250;
const reply = /reply-\d+/g;
const taskName = /task-\d+/;

/**
 * Starts it. Its agents append lines to the file `effects`, without looking whether it is there, so
 * that a call that is carried out twice shows; only if it is told that a call was interrupted does
 * it look first.
 */
export async function startCountedScript(effects: string): Promise<CountedScript> {
  let asked = 0;
  /** The replies to each turn, in the order in which they were asked for. */
  const replies = new Map<string, string[]>();
  const seen = new Set<string>();
  const model: ScriptedModel = await startScriptedModel((body, n) => {
    asked++;
    const agent = model.requests[n]?.path.split("/")[1] ?? "";
    const texts = body.messages.map((message) => chatText(message) + JSON.stringify(message.tool_calls ?? ""));
    for (const name of texts.join("\n").match(reply) ?? []) seen.add(name);
    const task = taskName.exec(texts.join("\n"))?.[0] ?? "";
    const { turn, isInterrupted, results } = standingOf(body);
    const key = `${agent} ${task} ${results}`;
    const name = `reply-${asked}`;
    replies.set(key, [...(replies.get(key) ?? []), name]);
    const calls = [
      turn < turns ? writing(lineOf(agent, task, turn), effects, { name, isInterrupted }) : ending(agent, task, name),
    ];
    return { calls, delayMs: replyMs };
  });
  return {
    close: model.close,
    urlOf: (agent) => model.url.replace(/\/v1$/, `/${agent}/v1`),
    get asked() {
      return asked;
    },
    get askedAgain() {
      return asked - replies.size;
    },
    linesOf: (agent, task) => Array.from({ length: turns }, (_, turn) => lineOf(agent, task, turn)),
    paidTwice(answers) {
      const kept = new Set([...seen, ...answers.flatMap((answer) => answer.match(reply) ?? [])]);
      // Only the last one may have been recorded: nobody may ask again once one is.
      return [...replies].flatMap(([key, names]) => {
        const recorded = names.filter((name) => kept.has(name));
        return recorded.length === 1 && recorded[0] === names.at(-1)
          ? []
          : [`${key}: asked for ${names.join(", ")}; recorded: ${recorded.join(", ") || "none"}`];
      });
    },
  };
}

const lineOf = (agent: string, task: string, turn: number) => `${task} ${agent} ${turn}`;

/** How many lines are written, and whether the last call was interrupted. */
function standingOf({ messages }: ChatRequest) {
  const results = messages.filter(({ role }) => role === "tool").map(chatText);
  const isLost = (text: string) => text.startsWith("Error: Interrupted:");
  return {
    turn: results.filter((text) => !isLost(text)).length,
    isInterrupted: isLost(results.at(-1) ?? ""),
    results: results.length,
  };
}

function writing(line: string, effects: string, { name, isInterrupted }: { name: string; isInterrupted: boolean }) {
  const append = `echo '${line}' >> ${effects}`;
  const command = isInterrupted ? `grep -qx '${line}' ${effects} || ${append}` : append;
  return { name: "bash", args: { command: `${command} # ${name}` } };
}

function ending(agent: string, task: string, name: string) {
  return { name: "terminate", args: { status: "success", summary: `${agent} did ${task} (${name})` } };
}
