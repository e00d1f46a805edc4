import type { ChartTable } from "./chart-table.ts";

const mostRows = 1000;

/** Makes text safe inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A page that needs nothing from elsewhere, and by its own policy may neither load nor run anything. */
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
body { font: 16px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
svg, img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.9em; }
th, td { border: 1px solid #ccc; padding: 0.2rem 0.6rem; text-align: left; }
</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** A chart as a page: the picture, what was found, and the data it shows. */
export function chartPage(chart: {
  readonly title: string;
  readonly language: string;
  readonly svg: string;
  readonly insights: readonly string[];
  readonly table: ChartTable;
}): string {
  const { title, language, svg, insights, table } = chart;
  const cells = (tag: string, row: readonly unknown[]) =>
    `<tr>${row.map((value) => `<${tag}>${escapeHtml(String(value ?? ""))}</${tag}>`).join("")}</tr>`;
  const names = table.columns.map(({ name }) => name);
  const left = table.rows.length - mostRows;
  const body = [
    svg,
    insights.length === 0 ? "" : `<ol>${insights.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ol>`,
    `<table>${cells("th", names)}${table.rows
      .slice(0, mostRows)
      .map((row) => cells("td", row))
      .join("\n")}</table>`,
    left > 0 ? `<p>… ${left}</p>` : "",
  ];
  return htmlPage(title, language, body.filter((part) => part !== "").join("\n"));
}
