import { escapeHtml, htmlPage } from "../../../page/html-page.ts";
import type { ChartFile } from "../chart-file.ts";
import { shownSpec } from "../shown-spec.ts";
import { interactiveSpec } from "./interactive-spec.ts";
import { menuWords } from "./menu-words.ts";
import { drawFunction, pageScript, vegaScripts } from "./vega-scripts.ts";

const maxRows = 1000;
const words = {
  en: { findings: "Findings", data: "Data", left: (rows: number) => `… and ${rows} more rows` },
  zh: { findings: "发现", data: "数据", left: (rows: number) => `…… 另有 ${rows} 行` },
};

/**
 * Takes the place of the picture once it has drawn the chart; the picture stays where it cannot.
 */
const start = pageScript(`${drawFunction}
const { spec, words } = JSON.parse(document.getElementById("specification").textContent);
const chart = document.getElementById("chart");
drawChart(chart, spec, words).then(
  () => document.getElementById("picture").remove(),
  () => chart.remove(),
);`);

/**
 * A chart as a page that needs nothing else: the chart, which answers to the pointer, the findings,
 * and the data it shows. Where scripts may not run, it is the picture.
 */
export async function chartPage(chart: ChartFile, svg: string): Promise<string> {
  const { title, language, insights } = chart;
  const vega = await vegaScripts.get();
  const specification = JSON.stringify({ spec: interactiveSpec(shownSpec(chart)), words: menuWords[language] });
  const word = words[language];
  const body = [
    `<div id="picture">${svg}</div>`,
    `<div id="chart"></div>`,
    insights.length === 0
      ? ""
      : `<h2>${word.findings}</h2>\n<ol>${insights.map(({ text }) => `<li>${escapeHtml(text)}</li>`).join("")}</ol>`,
    dataOf(chart),
    `<script type="application/json" id="specification">${specification.replaceAll("<", "\\u003c")}</script>`,
    `<script>${vega.text}</script>`,
    `<script>${start.text}</script>`,
  ];
  const policy = [vega.hash, start.hash];
  return htmlPage(title, language, body.filter((part) => part !== "").join("\n"), policy);
}

function dataOf({ columns, rows, language }: ChartFile): string {
  const cell = (value: unknown) => {
    const kind = typeof value === "number" ? ' class="number"' : "";
    return `<td${kind}>${escapeHtml(String(value ?? ""))}</td>`;
  };
  const head = columns.map(({ name }) => `<th>${escapeHtml(name)}</th>`).join("");
  const lines = rows.slice(0, maxRows).map((row) => `<tr>${row.map(cell).join("")}</tr>`);
  const left = rows.length - maxRows;
  const word = words[language];
  return [
    `<details><summary>${word.data}</summary>`,
    `<table><tr>${head}</tr>\n${lines.join("\n")}</table>`,
    left > 0 ? `<p>${word.left(left)}</p>` : "",
    "</details>",
  ]
    .filter((part) => part !== "")
    .join("\n");
}
