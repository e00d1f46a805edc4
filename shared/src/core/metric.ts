/**
 * One family of metrics as Prometheus reads it: a name, what it counts, and its samples. A
 * histogram's samples carry `_bucket`, `_sum` or `_count` as their `suffix`.
 */
export type MetricFamily = {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly MetricSample[];
};

/** One value, with the labels that tell it from the family's others. */
export type MetricSample = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly suffix?: "_bucket" | "_sum" | "_count";
};
