import type { StoredFile } from "manyhands";
import type * as z from "zod";
import type { assignment } from "../assignment.ts";

/**
 * Who argues for a position. One agent may be several debaters, each in a conversation of its own.
 */
export type Debater = {
  readonly name: string;
  readonly agent: string;
  readonly position: string;
  readonly settings?: z.output<typeof assignment.settings>;
};

/** What a debater said in one round, under the number by which it is cited. */
export type Argument = {
  readonly number: number;
  readonly round: number;
  readonly debater: Debater;
  readonly text: string;
  readonly files: readonly StoredFile[];
};

/** A debater that said nothing in a round, and why. */
export type Absence = { readonly round: number; readonly debater: Debater; readonly reason: string };

/** A debate as far as it has come. */
export type Course = {
  /** What is debated, with what the user added since. */
  readonly question: string;
  readonly debaters: readonly Debater[];
  readonly arguments: readonly Argument[];
  readonly absences: readonly Absence[];
  /** The last round that was held. */
  readonly round: number;
};

/** The debaters that are still asked: not those that were absent in the last two rounds. */
export function presentDebaters({ debaters, absences, round }: Course): readonly Debater[] {
  const missed = (debater: Debater, missedRound: number) =>
    absences.some((absence) => absence.round === missedRound && absence.debater === debater);
  return debaters.filter((debater) => !missed(debater, round) || !missed(debater, round - 1));
}
