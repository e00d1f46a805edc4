import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { AskOutcome, Exchange } from "../../core/events/ask-outcome.ts";
import { inWords, type Part } from "../../core/message.ts";
import { openWeb } from "../../core/taken-in.ts";
import type { DurableContext } from "../../core/tools/durable-context.ts";
import { reachOfAny } from "../../core/tools/reach.ts";
import { failure, type Tool, type ToolResult } from "../../core/tools/tool.ts";
import { inputSchemaOf, parseInput } from "../../core/tools/tool-input.ts";
import { addressesNamedIn } from "../../tools/risk/named-hosts.ts";
import type { AskRequest } from "../ask/ask.ts";
import { askAgent } from "../ask/ask-agent.ts";
import type { Peers } from "../ask/peers.ts";
import type { Directory } from "./directory.ts";

const name = "delegate";

/**
 * The share of a task's remaining budget that one call may reserve, so that some is left to finish
 * with.
 */
const share = 0.5;
const deadlineMs = 24 * 60 * 60 * 1000;
const resolveMs = 20_000;

/**
 * The tool with which an agent delegates a part of its task to another agent. The named files are
 * sent along, the files the other agent makes are placed in the workspace, its questions go to the
 * person this task works for, and its spending counts as this task's: at most half of what remains.
 */
export function delegateTool(directory: Directory, peers: Peers): Tool {
  const input = z.strictObject({
    agent: z.enum(directory.addresses.map((address) => address.name)),
    task: z.string().min(1).describe("All it has to know: what is wanted, what is known, what a good result is."),
    files: z
      .array(z.string().min(1))
      .max(50)
      .optional()
      .describe("Workspace files it gets, under the same paths; 7 MB in all."),
  });
  return {
    name,
    get description() {
      return `Gives a part of the task to another agent and waits for its answer; the files it makes land in your workspace. The agents:\n${directory.describe()}`;
    },
    inputSchema: inputSchemaOf(input),
    effect: () => "once",
    parallel: true,
    // URLs named in the task count as opened by this agent.
    reach: reachOfAny(name, input, { opens: ({ task }) => addressesNamedIn(task), reads: true }),
    call: async () => failure(`${name} works only in a run that can wait for an answer.`),
    async callDurably(raw, run, context) {
      const parsed = parseInput(name, input, raw);
      if (!parsed.ok) return failure(parsed.problem);
      const { agent: wanted, task, files = [] } = parsed.data;
      const agent = directory.addresses.find((address) => address.name === wanted);
      if (agent === undefined) return failure(`There is no agent ${wanted}.`);
      const sent = await attached(files, context);
      if (!Array.isArray(sent)) return sent;
      const subBudget = context.subBudget(share);
      const parts: Part[] = [{ type: "text", text: task }, ...sent];
      const { budget } = subBudget;
      const request: AskRequest = {
        agent,
        parts,
        budget,
        hops: context.hops,
        said: context.said,
        // The risk of this call was assessed as if it opened these URLs.
        given: addressesNamedIn(task),
        takenIn: context.takenIn,
        deadlineMs,
        resolveMs,
        receiveMessages: context.receiveMessages,
      };
      const outcome = await askAgent(run, request, peers);
      subBudget.release(outcome.usage);
      return forModel(outcome, await context.adopt(outcome.files.map((file) => ({ type: "file", ...file }))));
    },
  };
}

async function attached(paths: readonly string[], context: DurableContext): Promise<Part[] | ToolResult> {
  try {
    return [...(await context.attach(paths))];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failure(`Nothing was sent: ${error.message}`);
  }
}

/**
 * The outcome as text for the model: the other agent's words between tags that they cannot close.
 */
function forModel(
  { agent, state, answer, data, exchanges = [], files, takenIn = [agent], error }: AskOutcome,
  placed: readonly Part[],
): ToolResult {
  const said = [answer, ...(data === undefined ? [] : [JSON.stringify(data)])].filter((text) => text !== "").join("\n");
  const inside = unmarked(said);
  const names = placed.flatMap((part, index) =>
    part.type === "file" ? [placedName(part.name, files[index]?.name)] : [],
  );
  const lines = [
    ...(state === "completed" ? [] : [`${agent} did not complete the task (${state}).`]),
    ...(error === undefined
      ? []
      : [`<agent-error from="${agent}" code="${error.code}">\n${unmarked(error.message)}\n</agent-error>`]),
    ...exchanges.map((exchange) => exchangeText(agent, exchange)),
    ...(inside === "" ? [] : [`<agent-answer from="${agent}">\n${inside}\n</agent-answer>`]),
    ...(names.length === 0 ? [] : [`Its files, now in your workspace: ${names.join(", ")}`]),
  ];
  const text = lines.join("\n") || `${agent} completed the task without a word.`;
  // Whatever the agent had read, its answer may be steered by what it asked its own model.
  return { text, isError: state !== "completed", takenIn: [...new Set([openWeb, ...takenIn])] };
}

const longestPart = 2_000;

/** A question of the other agent during its task, in its words, and the person's answer. */
function exchangeText(agent: string, { kind, question, answer }: Exchange): string {
  const asked = unmarked(question.slice(0, longestPart));
  const answered = unmarked(answer.map(inWords).join("\n").slice(0, longestPart));
  const what = kind === "question" ? "asked the user" : "asked the user for leave";
  return `${agent} ${what}:\n<agent-question from="${agent}">\n${asked}\n</agent-question>\nThe user answered it:\n<user-answer>\n${answered}\n</user-answer>`;
}

/** Escapes the tags, so that the text cannot close them. */
function unmarked(words: string): string {
  return words.replaceAll(/<(\/?(?:agent-answer|agent-error|agent-question|user-answer))/gi, "<\\$1");
}

function placedName(name: string, original: string | undefined): string {
  return original === undefined || original === name ? name : `${name} (its ${original}; there was one already)`;
}
