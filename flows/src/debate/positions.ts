import { agentByName, agentText, type Flow } from "manyhands/flows";
import * as z from "zod";
import { assignment } from "../assignment.ts";
import { wholeGoal } from "../prompt-text.ts";
import type { Debater } from "./debate-state.ts";

/** A position as a caller gives it. */
export const givenPosition = z.strictObject({
  agent: assignment.agent,
  position: z.string().trim().min(1).describe("What it argues for."),
  name: z.string().trim().min(1).max(40).optional().describe("What the debater is called; a letter when left out."),
  settings: assignment.settings,
});

/** The minimum number of debaters, and the maximum unless the caller sets one. */
const fewest = 2;
const usual = 3;

/** The debaters with the caller's positions. Throws for a wrong agent before any is asked. */
export function givenDebaters(flow: Flow, positions: readonly z.output<typeof givenPosition>[]): Debater[] {
  return positions.map(({ name, ...given }, index) => {
    flow.check(given.agent);
    return { ...given, name: debaterName(name, index) };
  });
}

const divider = `You prepare a debate: you name the positions that are worth arguing for, and who argues for each. You take none yourself. Answer by calling name_positions.
- The positions exclude each other, each can be argued for in good faith, and together they cover what could reasonably be answered. A yes-or-no question has two; do not invent a third.
- Where there are more debaters than positions, several argue for the same one.
- Give a position to an agent that can make its case: where the question takes computing, files or the web, to one whose skills say that it can.`;

/**
 * Has the model choose the positions of a question and the agents that argue for them. If the
 * caller chose agents, all of them take part.
 */
export async function chooseDebaters(flow: Flow, wanted: number | undefined): Promise<Debater[]> {
  const all = flow.isChosen ? flow.agents : [];
  const least = wanted ?? Math.max(fewest, all.length);
  const most = wanted ?? Math.max(least, flow.isChosen ? 0 : Math.min(usual, flow.agents.length));
  const count = least === most ? `${least}` : `${least} to ${most}`;
  const everyone = wanted === undefined && all.length > 1 ? " Each agent is one of them." : "";
  const { positions } = await flow.decide({
    name: "name_positions",
    description: "Names the positions of the debate and who argues for them.",
    instructions: divider,
    text: `The agents:\n${flow.agents.map(agentText).join("\n")}\n\nName ${count} debaters for this.${everyone}\n\n${wholeGoal(flow)}`,
    schema: z.object({
      positions: z
        .array(
          z.object({
            position: z.string().trim().min(1).describe("What is argued for, in one or two sentences."),
            agent: z.string().trim().min(1).describe("The name of the agent that argues for it."),
          }),
        )
        .describe(`${count} debaters, each with a position and an agent.`),
    }),
    check: ({ positions }) => {
      const named = positions.map(({ agent }) => agentByName(agent, flow.agents)?.name);
      const unknown = positions.filter((_, index) => named[index] === undefined).map(({ agent }) => agent);
      const unnamed = wanted === undefined ? all.filter(({ name }) => !named.includes(name)) : [];
      const faults = [
        ...(positions.length < least || positions.length > most ? [`Name ${count} debaters.`] : []),
        ...(new Set(positions.map(({ position }) => position)).size < fewest ? ["At least two have to differ."] : []),
        ...unknown.map((agent) => `There is no agent "${agent}".`),
        ...unnamed.map(({ name }) => `${name} argues for nothing.`),
      ];
      return faults.length === 0 ? undefined : faults.join("\n");
    },
  });
  return positions.map(({ position, agent }, index) => ({
    name: debaterName(undefined, index),
    agent: agentByName(agent, flow.agents)?.name ?? agent,
    position,
  }));
}

/** A debater's name: as given, or a letter. */
export function debaterName(name: string | undefined, index: number): string {
  return name ?? String.fromCharCode("A".charCodeAt(0) + index);
}
