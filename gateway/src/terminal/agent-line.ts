import { authorizedFetch, type Credentials } from "manyhands/internal/a2a/client/credentials";
import { factsOfCard } from "../tasks/a2a-agent-client.ts";
import type { AgentFacts } from "../tasks/agent-client.ts";
import { safeLine } from "./safe-text.ts";

/** An agent's model in words. The rehearsal model must never look like a real one. */
function modelText(model: AgentFacts["model"]): string {
  if (model === undefined) return "model unknown";
  if (model.provider === "rehearsal") return "rehearsal model (scripted; no model is configured)";
  return `model ${safeLine(model.name, 60)} at ${safeLine(model.provider, 60)}`;
}

/** Name, model and sandbox of an agent. */
export function factsText({ title, model, sandbox }: AgentFacts): string {
  const confined = sandbox === undefined ? [] : [`sandbox ${safeLine(sandbox, 20)}`];
  return [safeLine(title, 60), modelText(model), ...confined].join(" · ");
}

/**
 * One line about a running agent: name, address, model, sandbox. Never rejects: what is unknown is
 * left out.
 */
export async function describeAgent(name: string, url: string, tls: Credentials["tls"]): Promise<string> {
  const facts = await fetchFacts(url, tls);
  const known =
    facts === undefined ? [] : [modelText(facts.model), `sandbox ${safeLine(facts.sandbox ?? "unknown", 20)}`];
  return [`${name}  ${url}`, ...known].join("  ·  ");
}

async function fetchFacts(url: string, tls: Credentials["tls"]): Promise<AgentFacts | undefined> {
  try {
    const ask = authorizedFetch(fetch, tls && { tls }, url);
    const response = await ask(`${url}/.well-known/agent-card.json`, { signal: AbortSignal.timeout(3000) });
    return response.ok ? factsOfCard(await response.json()) : undefined;
  } catch {
    return undefined;
  }
}
