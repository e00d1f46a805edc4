import {
  type ScriptedModel,
  type ScriptedReply,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";

type Message = ScriptedModel["requests"][number]["body"]["messages"][number];

/** A model that does the tasks of the guides' examples, with the tools a real model would use. */
export function startGuideModel(): Promise<ScriptedModel> {
  return startScriptedModel(({ messages, tools }) => {
    // Hints of the loop are also user messages, after the task.
    const task = messageText(messages.find(({ role }) => role === "user"));
    const results = messages.filter(({ role }) => role === "tool");
    const inFixedForm = tools?.some((tool) => tool.function.name === "create_chat_completion") ?? false;
    return { usage: { prompt_tokens: 900, completion_tokens: 40 }, ...reply(task, results, inFixedForm) };
  });
}

function reply(task: string, results: readonly Message[], inFixedForm: boolean): ScriptedReply {
  const done = results.length;
  if (task.includes("primes")) {
    if (done === 0)
      return call("python_execute", { code: "print(sum(all(n % d for d in range(2, n)) for n in range(2, 1000)))" });
    if (inFixedForm) return call("create_chat_completion", { response: { primes: 168 } });
    return { text: "There are 168 primes below 1000." };
  }
  if (task.includes("names.txt")) {
    if (done === 0) return call("str_replace_editor", { command: "view", path: "names.txt" });
    if (done === 1)
      return call("str_replace_editor", { command: "create", path: "sorted.txt", file_text: "Ada\nBob\nCleo\n" });
    return { text: "The names are in order in sorted.txt." };
  }
  if (task.includes("card")) {
    if (done === 0) return call("ask_human", { inquire: "Who is the card for?" });
    return { text: `Happy birthday, ${messageText(results[0])}!` };
  }
  return { text: "I know only the tasks of the guides." };
}

function call(name: string, args: unknown): ScriptedReply {
  return { calls: [{ name, args }] };
}

function messageText(message: Message | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}
