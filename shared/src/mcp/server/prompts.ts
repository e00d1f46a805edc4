import {
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  type Prompt,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { findRunnable, type Runnables } from "../../runs/runnable.ts";
import type { GivenAnswers } from "./questions.ts";

/** Prompts that a client offers its user to start with. */
export interface Prompts {
  list(): Prompt[];
  /** The messages, or what has to be asked first. Throws `not_found`. */
  get(name: string, args: Readonly<Record<string, string>>, given: GivenAnswers): GetPromptResult | InputRequiredResult;
  /** The possible values of an argument that start with the typed text. Throws `not_found`. */
  complete(name: string, argument: string, typed: string): string[];
}

/** Every runnable as a prompt that makes the client's model give it a task. */
export function runnablePrompts(runnables: Runnables): Prompts {
  const agents = () => runnables.all().filter(({ type }) => type === "agent");
  return {
    list: () =>
      runnables.all().map(({ name, title, description, type }) => ({
        name,
        title,
        description,
        arguments: [
          { name: "task", description: "What is to be done, in plain words.", required: true },
          ...(type === "flow"
            ? [{ name: "agents", description: "Names of agents to use, with commas between; all when left out." }]
            : []),
        ],
      })),
    get(name, args, { responses }) {
      const { description, type } = findRunnable(runnables, name);
      const task = args.task || answered.safeParse(responses.task).data?.content.task;
      if (!task) return askForTask(name);
      const using = type === "flow" && args.agents ? `, with these agents: ${args.agents}` : "";
      const text = `Give this task to ${name} with the tool of that name${using}. Pass it on as it is, with the files that belong to it, and report the answer.\n\n${task}`;
      return { description, messages: [{ role: "user", content: { type: "text", text } }] };
    },
    complete(name, argument, typed) {
      findRunnable(runnables, name);
      if (argument !== "agents") return [];
      const [last = "", ...earlier] = typed.split(",").toReversed();
      const before = earlier.toReversed().map((one) => `${one.trim()},`);
      return agents()
        .filter((agent) => agent.name.startsWith(last.trim()))
        .map((agent) => [...before, agent.name].join(" "));
    },
  };
}

const form = z.object({ task: z.string().meta({ title: "Task" }) });
const answered = z.object({ action: z.literal("accept"), content: form });

function askForTask(name: string): InputRequiredResult {
  const task = inputRequired.elicit({ message: `What should ${name} do?`, requestedSchema: form });
  return inputRequired({ inputRequests: { task } });
}
