import * as z from "zod";
import type { AgentFacts } from "../tasks/agent-client.ts";
import { safeLine } from "../terminal/safe-text.ts";

const card = z.looseObject({
  name: z.string(),
  capabilities: z.looseObject({
    extensions: z
      .array(z.looseObject({ uri: z.string(), params: z.record(z.string(), z.unknown()).optional() }))
      .optional(),
  }),
});
const ownParams = z.looseObject({
  model: z.looseObject({ name: z.string(), provider: z.string() }),
  sandbox: z.string(),
});

/** What an agent's card says of it: its model and sandbox are parameters of our own extension. */
export function factsOfCard(json: unknown): AgentFacts | undefined {
  const parsed = card.safeParse(json);
  if (!parsed.success) return undefined;
  const params = (parsed.data.capabilities.extensions ?? []).map(({ params }) => ownParams.safeParse(params));
  const own = params.find(({ success }) => success)?.data;
  return { title: parsed.data.name, model: own?.model, sandbox: own?.sandbox };
}

/** An agent's model in words. The rehearsal model is never to be taken for a real one. */
export function modelText(model: AgentFacts["model"]): string {
  if (model === undefined) return "model unknown";
  if (model.provider === "rehearsal") return "rehearsal model (scripted; no model is configured)";
  return `model ${safeLine(model.name, 60)} at ${safeLine(model.provider, 60)}`;
}

/** One line about a running agent: name, address, model, sandbox. Never rejects: what cannot be told is left out. */
export async function describeAgent(name: string, url: string): Promise<string> {
  const facts = await fetchFacts(url);
  const known =
    facts === undefined ? [] : [modelText(facts.model), `sandbox ${safeLine(facts.sandbox ?? "unknown", 20)}`];
  return [`${name}  ${url}`, ...known].join("  ·  ");
}

async function fetchFacts(url: string): Promise<AgentFacts | undefined> {
  try {
    const response = await fetch(`${url}/.well-known/agent-card.json`, { signal: AbortSignal.timeout(3000) });
    return factsOfCard(await response.json());
  } catch {
    return undefined;
  }
}
