import { expect, test } from "bun:test";
import type { Finding } from "./finding.ts";
import { addsUp, labelsAt } from "./finding.ts";
import { sayFinding, sayNumber } from "./say-finding.ts";

const of = (type: string, at: readonly string[], figures: Finding["figures"]): Finding => ({
  type,
  series: "Sales",
  at,
  figures,
  strength: 1,
});
const base = { mean: 2.5, median: 2, least: 1, greatest: 1234.5 };
const pair = (type: string, figures: Finding["figures"]) => ({ ...of(type, [], figures), series: "A × B" });

test.each<[Finding, string, string]>([
  [
    of("statistics_base", ["May", "June"], { ...base, sum: 10 }),
    "Sales: mean 2.5, median 2, sum 10; least 1 (May), greatest 1,235 (June).",
    "Sales：均值 2.5，中位数 2，合计 10；最小 1（May），最大 1,235（June）。",
  ],
  [
    of("statistics_base", ["May", "June"], base),
    "Sales: mean 2.5, median 2; least 1 (May), greatest 1,235 (June).",
    "Sales：均值 2.5，中位数 2；最小 1（May），最大 1,235（June）。",
  ],
  [
    of("statistics_base", ["May", "June"], { ...base, zeros: 0.75 }),
    "Sales: 75 % of the values are 0; mean 2.5, median 2; least 1 (May), greatest 1,235 (June).",
    "Sales：75 % 的值为 0；均值 2.5，中位数 2；最小 1（May），最大 1,235（June）。",
  ],
  [
    of("overall_trend", ["May", "June"], { slope: 2, p: 0.0004 }),
    "Sales rises on the whole from May to June, by about 2 a step (p < 0.001).",
    "Sales从 May 到 June 总体上升，平均每期约 2（p < 0.001）。",
  ],
  [
    of("overall_trend", ["May", "June"], { slope: -2, p: 0.001 }),
    "Sales falls on the whole from May to June, by about -2 a step (p = 0.001).",
    "Sales从 May 到 June 总体下降，平均每期约 -2（p = 0.001）。",
  ],
  [
    of("turning_point", ["May"], { value: 7 }),
    "Sales changes its direction around May (7).",
    "Sales在 May 前后改变走向（7）。",
  ],
  [
    of("page_hinkley", ["May"], { before: 1, after: 2 }),
    "Sales moves to another level around May: mean 1 before, 2 from then on.",
    "Sales在 May 前后水平改变：之前均值 1，之后 2。",
  ],
  [
    of("volatility", [], { step: 3, level: 4 }),
    "Sales goes up and down: a typical step is 3, at a typical level of 4.",
    "Sales起伏较大：典型的逐步变化为 3，典型水平为 4。",
  ],
  [
    of("majority_value", ["Rome"], { share: 0.6 }),
    "Rome makes up more than half of the Sales shown here: 60 %.",
    "Rome 占图中Sales的一半以上：60 %。",
  ],
  [
    of("majority_value", ["Rome".repeat(15)], { share: 0.6 }),
    `${"Rome".repeat(15)} makes up more than half of the Sales shown here: 60 %.`,
    `${"Rome".repeat(15)} 占图中Sales的一半以上：60 %。`,
  ],
  [
    of("majority_value", ["Rome".repeat(16)], { share: 0.6 }),
    `${"Rome".repeat(14)}Rom… makes up more than half of the Sales shown here: 60 %.`,
    `${"Rome".repeat(14)}Rom… 占图中Sales的一半以上：60 %。`,
  ],
  [
    of("majority_value", ["Rome"], { share: 0.5045 }),
    "Rome makes up more than half of the Sales shown here: 50.4 %.",
    "Rome 占图中Sales的一半以上：50.4 %。",
  ],
  [
    of("majority_value", ["Rome"], { share: 0.5004 }),
    "Rome makes up half of the Sales shown here.",
    "Rome 占图中Sales的一半。",
  ],
  [
    of("majority_value", ["Rome"], { share: 0.996 }),
    "Rome makes up more than half of the Sales shown here: 99.6 %.",
    "Rome 占图中Sales的一半以上：99.6 %。",
  ],
  [
    of("abnormal_value", ["May"], { count: 1 }),
    "Sales has 1 value unlike the others, far from the median: May.",
    "Sales有 1 个与其余不同、远离中位数的值：May。",
  ],
  [
    of("abnormal_value", ["May", "June"], { count: 12 }),
    "Sales has 12 values unlike the others, far from the median: May, June ….",
    "Sales有 12 个与其余不同、远离中位数的值：May, June …。",
  ],
  [
    of("statistics_abnormal", ["May", "June"], { count: 2 }),
    "Sales has 2 values more than three interquartile ranges outside the middle half: May, June.",
    "Sales有 2 个值超出中间一半三倍四分位距以外：May, June。",
  ],
  [
    of("lof_outlier", ["May"], { count: 1 }),
    "Sales has 1 value with no others near: May.",
    "Sales有 1 个周围没有其他值的孤立值：May。",
  ],
  [
    pair("pearson_correlation", { coefficient: 0.87654 }),
    "A × B: linear correlation of 0.8765 (Pearson).",
    "A × B：线性相关系数 0.8765（皮尔逊）。",
  ],
  [
    pair("pearson_correlation", { coefficient: 0.9, steps: 0.3 }),
    "A × B: linear correlation of 0.9 (Pearson).",
    "A × B：线性相关系数 0.9（皮尔逊）。",
  ],
  [
    pair("pearson_correlation", { coefficient: 0.9, steps: -0.2 }),
    "A × B: linear correlation of 0.9 (Pearson), but their changes from step to step only -0.2: they may share no more than a direction.",
    "A × B：线性相关系数 0.9（皮尔逊），但逐步变化仅 -0.2：可能只是走向相同。",
  ],
  [
    pair("spearman_correlation", { coefficient: -0.9, steps: 0.1 }),
    "A × B: go together in rank, not in a straight line: -0.9 (Spearman), but their changes from step to step only 0.1.",
    "A × B：秩次相关而非直线相关：-0.9（斯皮尔曼），但逐步变化仅 0.1。",
  ],
  [
    pair("dbscan_clusters", { clusters: 2, noise: 0 }),
    "A × B: the points form 2 separate groups.",
    "A × B：这些点分为 2 个相互分开的组。",
  ],
  [
    { ...pair("dbscan_clusters", { clusters: 2, noise: 1 }), at: ["t9"] },
    "A × B: the points form 2 separate groups, without t9.",
    "A × B：这些点分为 2 个相互分开的组，不含 t9。",
  ],
])("a finding is said with its figures and places: %#", (finding, english, chinese) => {
  expect([sayFinding(finding, "en"), sayFinding(finding, "zh")]).toEqual([english, chinese]);
});

test("a number has four significant digits, and all those before the point", () => {
  const said = [0, 0.123456, 12.3456, 999.96, 1000.4, -1234.6, 1_234_567].map(sayNumber);
  expect(said).toEqual(["0", "0.1235", "12.35", "1,000", "1,000", "-1,235", "1,234,567"]);
});

test("ten places are named at most", () => {
  const labels = Array.from({ length: 12 }, (_, at) => `t${at}`);
  expect(labelsAt({ labels }, [11, 0, 99])).toEqual(["t11", "t0", ""]);
  expect(labelsAt({ labels }, [...labels.keys()])).toHaveLength(10);
});

test("what is an average, a rate, a measure or a state does not add up, whatever its name is written like", () => {
  const adds = ["revenue", "orders", "population", "aging_items", "leverage", "销售额"];
  const not =
    "avg_price average mean Median rate conversion-rate ratio share percent percentage pct index score unit_price temperature temp age balance growth height weight width length speed latency level 平均值 单价 占比 年龄 °C".split(
      " ",
    );
  expect(adds.filter((name) => !addsUp(name))).toEqual([]);
  expect(not.filter(addsUp)).toEqual([]);
});
