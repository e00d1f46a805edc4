import { createKeyedQueue } from "manyhands/internal/core/keyed-queue";
import { readJson, writeJson } from "manyhands/internal/machine/workspace/json-file";
import * as z from "zod";

const kept = z.strictObject({
  agents: z.array(z.strictObject({ name: z.string(), url: z.string(), token: z.string().optional() })).readonly(),
});

/** An agent that was registered while the gateway ran. */
export type KeptAgent = z.output<typeof kept>["agents"][number];

/** The registered agents on disk, shared by the gateways of a home. */
export interface RegistryFile {
  read(): Promise<readonly KeptAgent[]>;
  /** Replaces what is kept by what `change` makes of it. */
  update(change: (agents: readonly KeptAgent[]) => readonly KeptAgent[]): Promise<void>;
}

/** The file at `path`; readable by this user alone, for it holds tokens. */
export function registryFile(path: string): RegistryFile {
  const queue = createKeyedQueue();
  const read = async () => (await readJson(path, kept))?.agents ?? [];
  return {
    read,
    update: (change) =>
      queue(path, async () => writeJson(path, { agents: change(await read()) } satisfies z.output<typeof kept>)),
  };
}
