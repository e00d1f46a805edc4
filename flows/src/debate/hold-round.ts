import { type Flow, outcomeText } from "manyhands/flows";
import { type Absence, type Argument, type Debater, type DebateState, presentDebaters } from "./debate-state.ts";
import { turnText } from "./turn-text.ts";

/**
 * How a round is held. `conversations` keeps each debater's conversation at its agent, by the
 * debater's name, and whether the agent still knows it.
 */
export type RoundOptions = {
  readonly turnDeadlineMs: number;
  readonly concurrency: number;
  readonly conversations: Map<string, { readonly contextId: string; readonly remembers: boolean }>;
};

/**
 * Holds the next round: all present debaters at the same time, none of them seeing what the others
 * say in it. A debater that fails or misses the deadline is absent. Arguments are numbered in the
 * debaters' order, whichever was first.
 */
export async function holdRound(flow: Flow, debate: DebateState, options: RoundOptions): Promise<DebateState> {
  const round = debate.round + 1;
  const debaters = presentDebaters(debate);
  const positions = debaters.map(({ name, agent, position }) => ({ debater: name, agent, position }));
  const note = `Round ${round}: ${debaters.map(({ name }) => name).join(", ")}`;
  flow.tell({ type: "round-begun", note, data: { round, ...(round === 1 && { positions }) } });
  const turns = await flow.all(
    debaters.map((debater) => (branch) => takeTurn(branch, debate, debater, round, options)),
    options,
  );
  const made: Argument[] = [];
  const absences: Absence[] = [];
  for (const { debater, contextId, remembers, ...turn } of turns) {
    if (contextId !== "") options.conversations.set(debater.name, { contextId, remembers });
    if ("reason" in turn) absences.push(tellAbsence(flow, { round, debater, reason: turn.reason }));
    else {
      const number = debate.arguments.length + made.length + 1;
      made.push(tellArgument(flow, { number, round, debater, ...turn }));
    }
  }
  return {
    ...debate,
    round,
    arguments: [...debate.arguments, ...made],
    absences: [...debate.absences, ...absences],
  };
}

async function takeTurn(
  flow: Flow,
  debate: DebateState,
  debater: Debater,
  round: number,
  { turnDeadlineMs, conversations }: RoundOptions,
) {
  const { contextId, remembers = false } = conversations.get(debater.name) ?? {};
  const parts = remembers ? [] : flow.files;
  const outcome = await flow.ask(
    debater.agent,
    { text: turnText(debate, debater, round, remembers), parts, settings: debater.settings },
    { deadlineMs: turnDeadlineMs, ...(contextId !== undefined && { contextId }) },
  );
  const { state, answer: text, files, artifacts, data } = outcome;
  const common = { debater, contextId: outcome.contextId, remembers: outcome.remembers ?? false };
  if (state !== "completed") return { ...common, reason: outcomeText(outcome) };
  if (text.trim() === "") return { ...common, reason: `${outcome.agent} gave no argument` };
  return { ...common, text, files, ...(artifacts && { artifacts }), ...(data !== undefined && { data }) };
}

/** Emits that an argument was made, and returns it. */
function tellArgument(flow: Flow, argument: Argument): Argument {
  const { number, round, text } = argument;
  const { name, agent } = argument.debater;
  const note = `[${number}] ${name} (${agent}): ${text}`;
  flow.tell({
    type: "argument-made",
    note,
    data: { round, argument: number, debater: name, agent, outcome: "completed" },
  });
  return argument;
}

/** Emits that a debater is absent, and returns the absence. */
function tellAbsence(flow: Flow, absence: Absence): Absence {
  const { round, reason } = absence;
  const { name, agent } = absence.debater;
  const note = `${name} is absent in round ${round}: ${reason}`;
  flow.tell({ type: "debater-absent", note, data: { round, debater: name, agent, reason, outcome: "blocked" } });
  return absence;
}
