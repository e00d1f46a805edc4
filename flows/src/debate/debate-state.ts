import type { AskOutcome } from "manyhands/flows";
import type * as z from "zod";
import type { assignment } from "../assignment.ts";
import type { HandedOver } from "../result-files.ts";

/**
 * A debater: an agent arguing for a position. One agent may be several debaters, each in a separate
 * conversation.
 */
export type Debater = {
  readonly name: string;
  readonly agent: string;
  readonly position: string;
  readonly settings?: z.output<typeof assignment.settings>;
};

/** What a debater said in one round, with the number by which it is cited. */
export type Argument = HandedOver & {
  readonly number: number;
  readonly round: number;
  readonly debater: Debater;
  readonly text: string;
  readonly data?: AskOutcome["data"];
};

/** A debater that said nothing in a round, and why. */
export type Absence = { readonly round: number; readonly debater: Debater; readonly reason: string };

/** The debate so far. */
export type DebateState = {
  /** What is debated, with the user's later additions. */
  readonly question: string;
  readonly debaters: readonly Debater[];
  readonly arguments: readonly Argument[];
  readonly absences: readonly Absence[];
  /** The last round held. */
  readonly round: number;
};

/** The debaters that are still asked: all but those absent in the last two rounds. */
export function presentDebaters({ debaters, absences, round }: DebateState): readonly Debater[] {
  const missed = (debater: Debater, missedRound: number) =>
    absences.some((absence) => absence.round === missedRound && absence.debater === debater);
  return debaters.filter((debater) => !missed(debater, round) || !missed(debater, round - 1));
}
