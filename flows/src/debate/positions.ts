import * as z from "zod";
import { assignment } from "../assignment.ts";
import type { Flow } from "../flow.ts";
import { wholeGoal } from "../whole-goal.ts";
import type { Debater } from "./debater.ts";

/** A position as a caller gives it. */
export const givenPosition = z.strictObject({
  agent: assignment.agent,
  position: z.string().trim().min(1).describe("What it argues for."),
  name: z.string().trim().min(1).max(40).optional().describe("What the debater is called; a letter when left out."),
  settings: assignment.settings,
});

/** Debaters there are where nobody says how many. */
const fewest = 2;
const usual = 3;

/** The debaters with the caller's positions; a wrong agent is found before any is asked. */
export function givenDebaters(flow: Flow, positions: readonly z.output<typeof givenPosition>[]): Debater[] {
  return positions.map(({ name, ...given }, index) => {
    flow.check(given.agent);
    return { ...given, name: debaterName(name, index) };
  });
}

const divider = `You prepare a debate: you name the positions that are worth arguing for, and take none yourself. Answer by calling name_positions.
The positions exclude each other, each can be argued for in good faith, and together they cover what could reasonably be answered.`;

/** Has the model name the positions of a question, and gives them to the agents in turn. */
export async function madeDebaters(flow: Flow, wanted: number | undefined): Promise<Debater[]> {
  const chosen = flow.isChosen ? flow.agents.length : Math.min(usual, flow.agents.length);
  const count = wanted ?? Math.max(fewest, chosen);
  const { positions } = await flow.decide({
    name: "name_positions",
    description: "Names the positions of the debate.",
    instructions: divider,
    text: `Name ${count} positions on this:\n\n${wholeGoal(flow)}`,
    schema: z.object({
      positions: z.array(z.string().trim().min(1)).describe(`${count} positions, each one or two sentences.`),
    }),
    check: ({ positions }) => {
      if (positions.length !== count) return `Name exactly ${count} positions.`;
      return new Set(positions).size === count ? undefined : "The positions have to differ.";
    },
  });
  return positions.flatMap((position, index) => {
    const agent = flow.agents[index % flow.agents.length]?.name;
    return agent === undefined ? [] : [{ name: debaterName(undefined, index), agent, position }];
  });
}

/** What a debater is called: as it was named, or by a letter. */
export function debaterName(name: string | undefined, index: number): string {
  return name ?? String.fromCharCode("A".charCodeAt(0) + index);
}
