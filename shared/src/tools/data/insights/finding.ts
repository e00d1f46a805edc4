/**
 * Numbers with the labels of their places. `ordered`: the places follow each other, as in time.
 * `adds`: their sum is meaningful.
 */
export type Series = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly values: readonly number[];
  readonly ordered: boolean;
  readonly adds: boolean;
};

/**
 * What was found in which series. `at` are the labels it is about; its sentence and its marks are
 * made from the figures.
 */
export type Finding = {
  readonly type: string;
  readonly series: string;
  readonly at: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  /** How clear it is, 0 to 1, for comparing findings. */
  readonly strength: number;
};

const maxPlaces = 10;

/** The labels of places, as many as fit in a sentence. */
export function labelsAt(series: Pick<Series, "labels">, places: readonly number[]): string[] {
  return places.slice(0, maxPlaces).map((at) => series.labels[at] ?? "");
}

const notAdded =
  /\b(?:avg|average|mean|median|rate|ratio|share|percent(?:age)?|pct|index|score|price|temperature|temp|age|balance|growth|height|weight|width|length|speed|latency|level)\b|%|°|平均|均价|单价|比率|比例|占比|率|指数|温度|评分|年龄|余额|身高|体重|速度/i;

/**
 * Whether the values of a column may be summed, judging by its name: averages, rates and prices may
 * not.
 */
export function addsUp(name: string): boolean {
  return !notAdded.test(name.replaceAll("_", " "));
}
