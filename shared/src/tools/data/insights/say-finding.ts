import type { Finding } from "./finding.ts";

/** The languages that findings are written in. */
export type FindingLanguage = "en" | "zh";

type Say = (finding: Finding, number: (name: string) => string, at: string) => string;

/** A probability below this is only reported as small. */
const smallestProbability = 0.001;
/**
 * Two series that move together only as a whole, not from step to step, may share nothing but a
 * direction.
 */
const together = 0.3;
const longestLabel = 60;

function probability(p = 0): string {
  return p < smallestProbability ? `p < ${smallestProbability}` : `p = ${p.toFixed(3)}`;
}

function sharesDirectionOnly({ figures }: Finding): boolean {
  return figures.steps !== undefined && Math.abs(figures.steps) < together;
}

const sentences: Readonly<Record<string, Readonly<Record<FindingLanguage, Say>>>> = {
  statistics_base: {
    en: ({ series, at, figures }, n) =>
      `${series}: ${figures.zeros === undefined ? "" : `${percent(figures.zeros)} of the values are 0; `}mean ${n("mean")}, median ${n("median")}${figures.sum === undefined ? "" : `, sum ${n("sum")}`}; least ${n("least")} (${at[0]}), greatest ${n("greatest")} (${at[1]}).`,
    zh: ({ series, at, figures }, n) =>
      `${series}：${figures.zeros === undefined ? "" : `${percent(figures.zeros)} 的值为 0；`}均值 ${n("mean")}，中位数 ${n("median")}${figures.sum === undefined ? "" : `，合计 ${n("sum")}`}；最小 ${n("least")}（${at[0]}），最大 ${n("greatest")}（${at[1]}）。`,
  },
  overall_trend: {
    en: ({ series, at, figures }, n) =>
      `${series} ${(figures.slope ?? 0) > 0 ? "rises" : "falls"} on the whole from ${at[0]} to ${at[1]}, by about ${n("slope")} a step (${probability(figures.p)}).`,
    zh: ({ series, at, figures }, n) =>
      `${series}从 ${at[0]} 到 ${at[1]} 总体${(figures.slope ?? 0) > 0 ? "上升" : "下降"}，平均每期约 ${n("slope")}（${probability(figures.p)}）。`,
  },
  turning_point: {
    en: ({ series }, n, at) => `${series} changes its direction around ${at} (${n("value")}).`,
    zh: ({ series }, n, at) => `${series}在 ${at} 前后改变走向（${n("value")}）。`,
  },
  page_hinkley: {
    en: ({ series }, n, at) =>
      `${series} moves to another level around ${at}: mean ${n("before")} before, ${n("after")} from then on.`,
    zh: ({ series }, n, at) => `${series}在 ${at} 前后水平改变：之前均值 ${n("before")}，之后 ${n("after")}。`,
  },
  volatility: {
    en: ({ series }, n) =>
      `${series} goes up and down: a typical step is ${n("step")}, at a typical level of ${n("level")}.`,
    zh: ({ series }, n) => `${series}起伏较大：典型的逐步变化为 ${n("step")}，典型水平为 ${n("level")}。`,
  },
  majority_value: {
    en: ({ series, figures }, _, at) =>
      isHalf(figures.share)
        ? `${at} makes up half of the ${series} shown here.`
        : `${at} makes up more than half of the ${series} shown here: ${percent(figures.share)}.`,
    zh: ({ series, figures }, _, at) =>
      isHalf(figures.share)
        ? `${at} 占图中${series}的一半。`
        : `${at} 占图中${series}的一半以上：${percent(figures.share)}。`,
  },
  abnormal_value: {
    en: ({ series, figures }, n, at) =>
      `${series} has ${n("count")} ${figures.count === 1 ? "value" : "values"} unlike the others, far from the median: ${at}.`,
    zh: ({ series }, n, at) => `${series}有 ${n("count")} 个与其余不同、远离中位数的值：${at}。`,
  },
  statistics_abnormal: {
    en: ({ series, figures }, n, at) =>
      `${series} has ${n("count")} ${figures.count === 1 ? "value" : "values"} more than three interquartile ranges outside the middle half: ${at}.`,
    zh: ({ series }, n, at) => `${series}有 ${n("count")} 个值超出中间一半三倍四分位距以外：${at}。`,
  },
  lof_outlier: {
    en: ({ series, figures }, n, at) =>
      `${series} has ${n("count")} ${figures.count === 1 ? "value" : "values"} with no others near: ${at}.`,
    zh: ({ series }, n, at) => `${series}有 ${n("count")} 个周围没有其他值的孤立值：${at}。`,
  },
  pearson_correlation: {
    en: (finding, n) =>
      `${finding.series}: linear correlation of ${n("coefficient")} (Pearson)${sharesDirectionOnly(finding) ? `, but their changes from step to step only ${n("steps")}: they may share no more than a direction` : ""}.`,
    zh: (finding, n) =>
      `${finding.series}：线性相关系数 ${n("coefficient")}（皮尔逊）${sharesDirectionOnly(finding) ? `，但逐步变化仅 ${n("steps")}：可能只是走向相同` : ""}。`,
  },
  spearman_correlation: {
    en: (finding, n) =>
      `${finding.series}: go together in rank, not in a straight line: ${n("coefficient")} (Spearman)${sharesDirectionOnly(finding) ? `, but their changes from step to step only ${n("steps")}` : ""}.`,
    zh: (finding, n) =>
      `${finding.series}：秩次相关而非直线相关：${n("coefficient")}（斯皮尔曼）${sharesDirectionOnly(finding) ? `，但逐步变化仅 ${n("steps")}` : ""}。`,
  },
  dbscan_clusters: {
    en: ({ series }, n, at) =>
      `${series}: the points form ${n("clusters")} separate groups${at === "" ? "" : `, without ${at}`}.`,
    zh: ({ series }, n, at) =>
      `${series}：这些点分为 ${n("clusters")} 个相互分开的组${at === "" ? "" : `，不含 ${at}`}。`,
  },
};

/** Whole percent, with a decimal where they would say half or all of what is not quite. */
function percent(share = Number.NaN): string {
  const isNear = share >= 0.995 || (share > 0.5 && share < 0.505);
  return `${(100 * share).toFixed(isNear ? 1 : 0)} %`;
}

/** Whether what is more than a half would be told as 50.0 %. */
function isHalf(share = Number.NaN): boolean {
  return share < 0.5005;
}

/** A finding as one sentence. */
export function sayFinding(finding: Finding, language: FindingLanguage): string {
  const number = (name: string) => sayNumber(finding.figures[name] ?? Number.NaN);
  const { count = 0 } = finding.figures;
  const more = count > finding.at.length ? " …" : "";
  const at = finding.at.map(short);
  return sentences[finding.type]?.[language]({ ...finding, at }, number, at.join(", ") + more) ?? finding.type;
}

function short(label: string): string {
  return label.length > longestLabel ? `${label.slice(0, longestLabel - 1)}…` : label;
}

/** A number for a reader: four significant digits, all digits before the decimal point. */
export function sayNumber(value: number): string {
  const whole = Math.abs(value) >= 1000;
  return value.toLocaleString("en-US", whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 });
}
