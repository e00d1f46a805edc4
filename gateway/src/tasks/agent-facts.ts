import { agentExtension } from "manyhands/internal/a2a/extensions";
import * as z from "zod";
import type { AgentFacts } from "./agent-client.ts";

const card = z.looseObject({
  name: z.string(),
  capabilities: z.looseObject({
    extensions: z
      .array(z.looseObject({ uri: z.string(), params: z.record(z.string(), z.unknown()).optional() }))
      .optional(),
  }),
});
const ownParams = z.looseObject({
  model: z.looseObject({ name: z.string(), provider: z.string() }).optional(),
  sandbox: z.string().optional(),
});

/** What an agent's card says of it: its model and sandbox are parameters of our own extension. */
export function factsOfCard(json: unknown): AgentFacts {
  const parsed = card.safeParse(json);
  if (!parsed.success) return { title: "agent", model: undefined, sandbox: undefined };
  const extension = parsed.data.capabilities.extensions?.find(({ uri }) => uri === agentExtension);
  const own = ownParams.safeParse(extension?.params).data;
  return { title: parsed.data.name, model: own?.model, sandbox: own?.sandbox };
}
