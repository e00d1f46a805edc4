import { damagedText, type KeptText } from "manyhands/internal/core/text/kept-text";
import * as z from "zod";

const kept = z.strictObject({
  agents: z.array(z.strictObject({ name: z.string(), url: z.string(), token: z.string().optional() })).readonly(),
});

/** An agent that was registered while the gateway ran. */
export type KeptAgent = z.output<typeof kept>["agents"][number];

/** The registered agents, shared by the gateways of a home or of a database. */
export interface RegistryFile {
  read(): Promise<readonly KeptAgent[]>;
  /** Replaces what is kept by what `change` makes of it. */
  update(change: (agents: readonly KeptAgent[]) => readonly KeptAgent[]): Promise<void>;
}

/** The agents in this text, which nobody else may read, for it holds tokens. */
export function registryFile(text: KeptText): RegistryFile {
  return {
    read: async () => agentsIn(await text.read()),
    update: (change) =>
      text.change((now) => JSON.stringify({ agents: change(agentsIn(now)) } satisfies z.output<typeof kept>)),
  };
}

function agentsIn(text: string | undefined): readonly KeptAgent[] {
  if (text === undefined) return [];
  try {
    return kept.parse(JSON.parse(text)).agents;
  } catch (cause) {
    throw damagedText("agents.json", "registered agents have to be added again then", cause);
  }
}
