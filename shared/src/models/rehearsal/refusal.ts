import { finish, type Scene, type Script, type Turn } from "./script.ts";

/** What the rehearsal model says to everything it has no script for, and how to get a real model. */
export function refusal(scene: Pick<Scene, "tools">, scripts: readonly Script[]): Turn {
  const known = scripts.flatMap(({ title }) => title ?? []);
  const text = [
    "I am the rehearsal model: scripts played on this machine, not a language model. I cannot do this task.",
    "To configure a real model, do one of these:",
    "1. Set OPENAI_API_KEY and MANYHANDS_MODEL in the environment, and OPENAI_BASE_URL for a provider other than OpenAI.",
    "2. Write an [llm] section with model, base_url and api_key into manyhands.toml.",
    "3. Run a local server such as Ollama, and set OPENAI_BASE_URL (http://127.0.0.1:11434/v1) and MANYHANDS_MODEL to one of its models.",
    `I know only: ${known.map((title) => `"${title}"`).join(", ")}.`,
  ].join("\n");
  return finish(scene, "failure", text, "I am the rehearsal model, and I have no script for this task.");
}
