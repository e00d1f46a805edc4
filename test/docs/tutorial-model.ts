import type { ModelScript } from "manyhands/testing";

type Answering = Extract<ModelScript, (...request: never[]) => unknown>;
type Message = Parameters<Answering>[0]["messages"][number];

/** What a model would do in the tutorial's tasks. */
export const tutorialReply: Answering = ({ messages }) => {
  const [instructions] = messages;
  const task = messageText(messages.find(({ role }) => role === "user"));
  const isFirst = messages.every(({ role }) => role !== "tool");
  if (messageText(instructions).includes("You are a city guide.")) {
    const args = { command: "create", path: "places.md", file_text: "- Pantheon\n" };
    return isFirst ? { calls: [{ name: "str_replace_editor", args }] } : { text: "The Pantheon, for its dome." };
  }
  if (task.includes("open?")) {
    const call = { name: "opening-hours__opening_hours", args: { sight: "Pantheon" } };
    return isFirst ? { calls: [call] } : { text: "It is open from 9:00 to 19:00." };
  }
  if (task.includes("primes")) {
    const code = "print(sum(all(n % d for d in range(2, n)) for n in range(2, 1000)))";
    return isFirst
      ? { calls: [{ name: "python_execute", args: { code } }] }
      : { text: "There are 168 primes below 1000." };
  }
  return isFirst ? { calls: [{ name: "weather", args: { city: "Rome" } }] } : { text: "Walk to the Pantheon." };
};

function messageText(message: Message | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}
