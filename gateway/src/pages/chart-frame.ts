import { lazily } from "manyhands/internal/core/async/lazy";
import { drawFunction, pageScript, vegaScripts } from "manyhands/internal/tools/data/charts/interactive/vega-scripts";

/**
 * Takes a chart as data from the window around it, draws it, and tells how high it is. Like the
 * frame for pages it has an origin of its own; unlike those, what it is given is no page: nothing
 * of it is parsed as one, and its expressions are interpreted.
 */
const script = `${drawFunction}
addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  const chart = document.getElementById("chart");
  const tell = () => parent.postMessage({ height: Math.ceil(document.documentElement.scrollHeight) }, "*");
  drawChart(chart, data.spec, data.words).then(
    () => new ResizeObserver(tell).observe(chart),
    (error) => parent.postMessage({ failed: String(error && error.message).slice(0, 300) }, "*"),
  );
}, { once: true });
parent.postMessage("ready", "*");`;

const style = "html{background:#fff}body{margin:0;overflow-x:auto}#chart{display:block}";

/** The frame in which the console shows charts, and the policy it is served with. */
export const chartFrame = lazily(async () => {
  const [vega, own] = [await vegaScripts.get(), pageScript(script)];
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Chart</title><style>${style}</style><div id="chart"></div><script>${vega.text}</script><script>${own.text}</script></html>`;
  const policy = [
    // Downloads: a chart can be saved as a picture.
    "sandbox allow-scripts allow-downloads",
    "default-src 'none'",
    `script-src ${vega.hash} ${own.hash}`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
  const bytes = new TextEncoder().encode(page);
  const etag = `"${Bun.hash(bytes).toString(36)}"`;
  return { file: { type: "text/html; charset=utf-8", bytes, gzip: Bun.gzipSync(bytes), etag }, policy };
});
