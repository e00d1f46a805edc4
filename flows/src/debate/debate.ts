import { AppError } from "manyhands";
import { defineFlow, type Flow, type FlowResult } from "manyhands/flows";
import * as z from "zod";
import { assignment, deadline } from "../assignment.ts";
import { wholeGoal, withAdditions } from "../prompt-text.ts";
import { handOnBranches } from "../result-files.ts";
import { checkAgreement } from "./agreement.ts";
import { type Debater, type DebateState, presentDebaters } from "./debate-state.ts";
import { holdRound, type RoundOptions } from "./hold-round.ts";
import type { JudgeVerdict } from "./judge.ts";
import { judgeDebate } from "./judge.ts";
import { chooseDebaters, debaterName, givenDebaters, givenPosition } from "./positions.ts";
import { publishTranscript, transcriptText, verdictText } from "./transcript.ts";

const options = z.strictObject({
  positions: z
    .array(givenPosition)
    .min(2)
    .max(10)
    .optional()
    .describe(
      "Who argues for what; one agent may hold several. Left out: the model names them, and who argues for each.",
    ),
  debaters: z
    .int()
    .min(2)
    .max(10)
    .optional()
    .describe("How many debaters the model names. Left out: two or three, or each agent that the caller named."),
  rounds: z.int().min(1).max(8).default(3).describe("Rounds at most, the first one by itself included."),
  converge: z.boolean().default(true).describe("Whether the debate ends when the model finds that all agree."),
  turnDeadlineMs: deadline.default(300_000).describe("Milliseconds after which a debater is absent in a round."),
  concurrency: z.int().min(1).max(10).default(5).describe("Debaters that speak at the same time."),
  judge: assignment.agent.optional().describe("The agent that judges; the model when left out."),
});

type Options = z.output<typeof options>;

/** Why a debate had no further round. */
type Stop = "agreed" | "rounds" | "alone" | "silence";

/**
 * Agents argue for different answers, first independently, then in reply to each other; a judge
 * decides by their arguments.
 */
export const debate = defineFlow({
  name: "debate",
  title: "Debate flow",
  description:
    "Agents argue for different positions in rounds, and a judge gives a verdict with its confidence, the dissent and the arguments it rests on.",
  version: "1.0.0",
  skills: [
    {
      id: "debate",
      name: "Debate a question",
      description: "Finds positions, has them argued and answered, and decides with reasons that can be looked up.",
      tags: ["flow", "debate", "decision"],
      examples: ["Should the service keep its data in SQLite or in PostgreSQL?"],
    },
  ],
  options,
  example: {
    text: "Should a small team write its tests before the code or after it?",
    options: {
      positions: [
        { agent: "manus", position: "Before: tests first make the design clear." },
        { agent: "swe", position: "After: tests follow once the shape of the code is known." },
      ],
      rounds: 2,
    },
  },
  check: ({ options: { positions, debaters } }) => {
    if (positions !== undefined && debaters !== undefined) return "options.debaters: goes without positions only";
    const names = (positions ?? []).map(({ name }, index) => debaterName(name, index));
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice === undefined ? undefined : `options.positions: there are two named ${twice}`;
  },
  async perform(flow, options) {
    if (options.judge !== undefined) flow.check(options.judge);
    const { positions } = options;
    flow.expect((positions?.length ?? flow.agents.length) * options.rounds + 1, { own: true });
    const debaters =
      positions === undefined ? await chooseDebaters(flow, options.debaters) : givenDebaters(flow, positions);
    const { state, stop } = await holdRounds(flow, debaters, options);
    flow.expect(options.judge === undefined ? 0 : 1, { own: true });
    const verdict = await judgeDebate(flow, state, options.judge);
    publishTranscript(flow, state, verdict);
    handOnBranches(
      flow,
      state.arguments.map(({ number, ...made }) => ({ name: `argument-${number}`, ...made })),
    );
    return conclude(state, stop, verdict);
  },
});

/**
 * Holds rounds until the debaters agree, too few are left, or the last round is over. Rejects with
 * `task_failed` if nobody says anything at all.
 */
async function holdRounds(
  flow: Flow,
  debaters: readonly Debater[],
  options: Options,
): Promise<{ readonly state: DebateState; readonly stop: Stop }> {
  const { rounds, judge } = options;
  const held: RoundOptions = { ...options, conversations: new Map() };
  let state: DebateState = { question: wholeGoal(flow), debaters, arguments: [], absences: [], round: 0 };
  for (;;) {
    const present = presentDebaters(state).length;
    flow.expect(present * (rounds - state.round) + (judge === undefined ? 0 : 1), { own: true });
    const question = withAdditions(state.question, await flow.receiveMessages());
    state = await holdRound(flow, { ...state, question }, held);
    publishTranscript(flow, state);
    flow.reached(transcriptText(state, undefined));
    const stop = await endRound(flow, state, options);
    if (stop !== undefined) return { state, stop };
  }
}

async function endRound(flow: Flow, state: DebateState, { rounds, converge }: Options): Promise<Stop | undefined> {
  const { round } = state;
  const spoke = state.arguments.filter((argument) => argument.round === round).length;
  if (state.arguments.length === 0) {
    const reasons = state.absences.map(({ debater, reason }) => `${debater.name}: ${reason}`).join(" ");
    throw new AppError("task_failed", `No debater gave an argument. ${reasons}`);
  }
  const mayEnd = converge && spoke > 1 && round < rounds;
  const { agreed, reason } = mayEnd ? await checkAgreement(flow, state) : { agreed: false, reason: "" };
  const said = agreed ? "they agree" : `${spoke} of ${state.debaters.length} spoke`;
  const note = `Round ${round} is over: ${said}${reason === "" ? "" : `: ${reason}`}`;
  flow.tell({ type: "round-ended", note, data: { round, agreed, reason } });
  if (agreed) return "agreed";
  if (round === rounds) return "rounds";
  if (spoke === 0) return "silence";
  return presentDebaters(state).length < 2 ? "alone" : undefined;
}

function conclude(state: DebateState, stop: Stop, verdict: JudgeVerdict): FlowResult {
  const missed = state.absences.map(({ debater, round, reason }) => `- ${debater.name} in round ${round}: ${reason}`);
  const absent = missed.length === 0 ? "" : `\n\nAbsent:\n${missed.join("\n")}`;
  const named = ({ name, agent }: Debater) => ({ debater: name, agent });
  return {
    answer: `${verdictText(verdict)}${absent}`,
    data: {
      verdict,
      stop,
      rounds: state.round,
      positions: state.debaters.map((debater) => ({ ...named(debater), position: debater.position })),
      arguments: state.arguments.map(({ number, round, debater, text, data }) => ({
        number,
        round,
        ...named(debater),
        text,
        ...(data !== undefined && { data }),
      })),
      absences: state.absences.map(({ round, debater, reason }) => ({ round, ...named(debater), reason })),
    },
  };
}
