import type { Finding } from "./find-insights.ts";

/** The languages findings are told in. */
export type Language = "en" | "zh";

type Say = (finding: Finding, number: (name: string) => string, at: string) => string;

/** Smaller than this a probability says only that it is small. */
const smallestProbability = 0.001;

function probability(p = 0): string {
  return p < smallestProbability ? `p < ${smallestProbability}` : `p = ${p.toFixed(3)}`;
}

const sentences: Readonly<Record<string, Readonly<Record<Language, Say>>>> = {
  statistics_base: {
    en: ({ series, at }, n) =>
      `${series}: mean ${n("mean")}, median ${n("median")}, sum ${n("sum")}; least ${n("least")} (${at[0]}), greatest ${n("greatest")} (${at[1]}).`,
    zh: ({ series, at }, n) =>
      `${series}：均值 ${n("mean")}，中位数 ${n("median")}，合计 ${n("sum")}；最小 ${n("least")}（${at[0]}），最大 ${n("greatest")}（${at[1]}）。`,
  },
  overall_trend: {
    en: ({ series, figures }, n) =>
      `${series} ${(figures.slope ?? 0) > 0 ? "rises" : "falls"} on the whole, by ${n("slope")} a step (${probability(figures.p)}).`,
    zh: ({ series, figures }, n) =>
      `${series}总体${(figures.slope ?? 0) > 0 ? "上升" : "下降"}，每步约 ${n("slope")}（${probability(figures.p)}）。`,
  },
  turning_point: {
    en: ({ series }, n, at) => `${series} turns at ${at} (${n("value")}).`,
    zh: ({ series }, n, at) => `${series}在 ${at} 出现转折（${n("value")}）。`,
  },
  page_hinkley: {
    en: ({ series }, n, at) =>
      `${series} changes its level at ${at}: mean ${n("before")} before, ${n("after")} from then on.`,
    zh: ({ series }, n, at) => `${series}自 ${at} 起水平改变：之前均值 ${n("before")}，之后 ${n("after")}。`,
  },
  volatility: {
    en: ({ series }, n) => `${series} is volatile: its changes from step to step are ${n("jumps")} of its mean.`,
    zh: ({ series }, n) => `${series}波动较大：逐步变化为均值的 ${n("jumps")} 倍。`,
  },
  majority_value: {
    en: ({ series }, n, at) => `${at} makes up more than half of ${series}: a share of ${n("share")}.`,
    zh: ({ series }, n, at) => `${at} 占${series}的一半以上：占比 ${n("share")}。`,
  },
  abnormal_value: {
    en: ({ series }, n, at) => `${series} has ${n("count")} value(s) far from its median, at ${at}.`,
    zh: ({ series }, n, at) => `${series}有 ${n("count")} 个远离中位数的值：${at}。`,
  },
  statistics_abnormal: {
    en: ({ series }, n, at) => `${series} has ${n("count")} value(s) outside 1.5 interquartile ranges: ${at}.`,
    zh: ({ series }, n, at) => `${series}有 ${n("count")} 个值超出 1.5 倍四分位距：${at}。`,
  },
  lof_outlier: {
    en: ({ series }, n, at) => `${series} has ${n("count")} isolated value(s) by local density: ${at}.`,
    zh: ({ series }, n, at) => `按局部密度，${series}有 ${n("count")} 个孤立值：${at}。`,
  },
  pearson_correlation: {
    en: ({ series }, n) => `${series}: linear correlation of ${n("coefficient")} (Pearson).`,
    zh: ({ series }, n) => `${series}：线性相关系数 ${n("coefficient")}（皮尔逊）。`,
  },
  spearman_correlation: {
    en: ({ series }, n) => `${series}: rank correlation of ${n("coefficient")} (Spearman).`,
    zh: ({ series }, n) => `${series}：秩相关系数 ${n("coefficient")}（斯皮尔曼）。`,
  },
  dbscan_clusters: {
    en: ({ series }, n, at) =>
      `${series}: ${n("clusters")} cluster(s) by density, ${n("noise")} point(s) in none${at === "" ? "" : `: ${at}`}.`,
    zh: ({ series }, n, at) =>
      `${series}：按密度分为 ${n("clusters")} 类，${n("noise")} 个点不属于任何类${at === "" ? "" : `：${at}`}。`,
  },
};

/** A finding as one sentence. */
export function sayFinding(finding: Finding, language: Language): string {
  const number = (name: string) =>
    (finding.figures[name] ?? Number.NaN).toLocaleString("en-US", { maximumSignificantDigits: 4 });
  return sentences[finding.type]?.[language](finding, number, finding.at.join(", ")) ?? finding.type;
}
