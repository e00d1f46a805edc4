import type { Language } from "../insights/say-finding.ts";
import type { ChartTable } from "./chart-table.ts";

const mostRows = 1000;
const words = {
  en: { findings: "Findings", data: "Data", left: (rows: number) => `… and ${rows} more rows` },
  zh: { findings: "发现", data: "数据", left: (rows: number) => `…… 另有 ${rows} 行` },
};

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A self-contained page that its own policy forbids to load or run anything. */
export function htmlPage(title: string, language: string, body: string): string {
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style>
body { font: 16px/1.55 system-ui, "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif; color: #1c1c1c; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 0.5em; }
h1 { font-size: 1.9em; margin-top: 0; }
svg, img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.92em; font-variant-numeric: tabular-nums; margin: 1em 0; }
th, td { border: 1px solid #d0d0d0; padding: 0.25rem 0.7rem; }
th { background: #f4f4f4; text-align: left; }
td.number { text-align: right; }
blockquote { border-left: 3px solid #c9c9c9; color: #444; margin: 1em 0; padding-left: 1em; }
code { background: #f4f4f4; padding: 0.1em 0.3em; }
pre { background: #f4f4f4; overflow-x: auto; padding: 0.8em; }
pre code { background: none; padding: 0; }
summary { cursor: pointer; }
@media print { body { max-width: none; } }
</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** A chart as a page: the picture, the findings, and the data it shows. */
export function chartPage(chart: {
  readonly title: string;
  readonly language: Language;
  readonly svg: string;
  readonly insights: readonly string[];
  readonly table: ChartTable;
}): string {
  const { title, language, svg, insights, table } = chart;
  const cell = (value: unknown) => {
    const kind = typeof value === "number" ? ' class="number"' : "";
    return `<td${kind}>${escapeHtml(String(value ?? ""))}</td>`;
  };
  const head = table.columns.map(({ name }) => `<th>${escapeHtml(name)}</th>`).join("");
  const rows = table.rows.slice(0, mostRows).map((row) => `<tr>${row.map(cell).join("")}</tr>`);
  const left = table.rows.length - mostRows;
  const word = words[language];
  const body = [
    svg,
    insights.length === 0
      ? ""
      : `<h2>${word.findings}</h2>\n<ol>${insights.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ol>`,
    `<details><summary>${word.data}</summary>`,
    `<table><tr>${head}</tr>\n${rows.join("\n")}</table>`,
    left > 0 ? `<p>${word.left(left)}</p>` : "",
    "</details>",
  ];
  return htmlPage(title, language, body.filter((part) => part !== "").join("\n"));
}
