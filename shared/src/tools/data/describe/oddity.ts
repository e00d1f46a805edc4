/** What is known of a column before it is looked at for oddities. */
export type ColumnProfile = {
  readonly name: string;
  readonly type: string;
  /** Number of distinct values; of very many rows an estimate. */
  readonly distinct: number;
  readonly quartiles: readonly [low: number, high: number] | undefined;
};

/**
 * The counts a column's oddities are told from: SQL over the column as `c`, and over the value of
 * the row before as `before`.
 */
export type Looks = Readonly<Record<string, string>>;

/** What the counts of a column came to, by the same names. */
export type Seen = (name: string) => number;

/** One thing to look for in columns of some kind. */
export type Oddity = {
  /** The counts it needs; undefined where it cannot be. */
  readonly looks: (column: ColumnProfile) => Looks | undefined;
  /**
   * The sentence for what was seen, without the column's name; undefined when there is nothing odd.
   * `example` is a text that a look `…Example` found.
   */
  readonly say: (seen: Seen, example: (name: string) => string, column: ColumnProfile) => string | undefined;
};

/** How many there are, of a word. */
export function several(count: number, word: string): string {
  return `${count} ${count === 1 ? word : `${word}s`}`;
}
