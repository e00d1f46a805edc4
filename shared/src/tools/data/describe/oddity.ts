/** What is known about a column before it is checked for oddities. */
export type ColumnProfile = {
  readonly name: string;
  readonly type: string;
  /** Number of distinct values; an estimate when there are very many rows. */
  readonly distinct: number;
  readonly quartiles: readonly [low: number, high: number] | undefined;
  /** The form, as of strftime, in which its dates were read; undefined for ISO 8601. */
  readonly dateForm?: string | undefined;
};

/**
 * The counts from which a column's oddities are derived: SQL over the column as `c`, and over the
 * previous row's value as `before`.
 */
export type Looks = Readonly<Record<string, string>>;

/** The results of a column's counts, by the same names. */
export type CountByName = (name: string) => number;

/** One thing to look for in columns of some kind. */
export type Oddity = {
  /** The counts it needs; undefined when it does not apply to the column. */
  readonly looks: (column: ColumnProfile) => Looks | undefined;
  /**
   * The sentence for the results, without the column's name; undefined when there is nothing odd.
   * `example` is a text that a look `…Example` found.
   */
  readonly say: (seen: CountByName, example: (name: string) => string, column: ColumnProfile) => string | undefined;
};
