import * as z from "zod";
import type { Abilities } from "./demo-task.ts";

const agents = z.object({
  agents: z.array(
    z.looseObject({
      name: z.string(),
      card: z.looseObject({ skills: z.array(z.looseObject({ id: z.string() })).default([]) }).optional(),
    }),
  ),
});

/** What the agents of a gateway can do here, by their cards, which promise no skill that the machine lacks something for. */
export async function readAbilities(gateway: string, token: string | undefined): Promise<Abilities> {
  const response = await fetch(`${gateway}/agents`, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  const listed = agents.parse(await response.json()).agents;
  const offers = (agent: string, skill: string) =>
    listed.some(({ name, card }) => name === agent && card?.skills.some(({ id }) => id === skill));
  return {
    // The project's tests are Python's own.
    runsCode: offers("swe", "fix-bug") && Bun.which("python3") !== null,
    operatesPages: offers("browser", "operate-pages"),
  };
}
