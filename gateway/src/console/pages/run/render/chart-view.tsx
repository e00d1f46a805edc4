import type { ChartFile } from "manyhands/internal/tools/data/charts/chart-file";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { runPath } from "../../../api/catalog.ts";
import { request } from "../../../api/client.ts";
import { safeText } from "../../../words/format.ts";
import { language, words } from "../../../words/words.ts";

const maxBytes = 8_000_000;
const [lowest, highest] = [200, 900];

type Chart = { readonly title: string; readonly spec: unknown; readonly words: unknown };

/** The charts that a call of `data_visualization` says it has saved. */
export function chartsIn(result: string): readonly string[] {
  const plain = [...result.matchAll(/^Chart saved in: .* \(its data: (.+\.json)\)$/gm)].map(([, path = ""]) => path);
  const marked = [...result.matchAll(/^Chart with findings saved in: (.+)\.\w+ \(.+ is as it was\)$/gm)];
  return [...plain, ...marked.map(([, base]) => `${base}.json`)];
}

/** Where the API has a file of the workspace in which a run worked. */
export function workspaceFile(runId: string, path: string): string {
  return `${runPath(runId)}/file?${new URLSearchParams({ path })}`;
}

/**
 * A chart of an agent's workspace, drawn in a frame with an origin of its own from its data: it
 * answers to the pointer. The children are shown where there is no such chart, or no longer.
 */
export function ChartView({
  source,
  version,
  children,
}: {
  source: string;
  version?: string | undefined;
  children?: ComponentChildren;
}) {
  const [chart, setChart] = useState<Chart | undefined | null>(undefined);
  useEffect(() => {
    const gone = new AbortController();
    readChart(source, gone.signal).then(
      (read) => gone.signal.aborted || setChart(read),
      () => gone.signal.aborted || setChart(null),
    );
    return () => gone.abort();
  }, [source, version]);
  if (chart === undefined) return null;
  return chart === null ? children : <Frame key={`${source} ${version}`} chart={chart} />;
}

function Frame({ chart }: { chart: Chart }) {
  const text = words().run;
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(lowest);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent) => {
      if (source === null || source !== frame.current?.contentWindow) return;
      // Its origin is opaque, and has no name to send to.
      if (data === "ready") frame.current.contentWindow?.postMessage({ spec: chart.spec, words: chart.words }, "*");
      else if (typeof data?.height === "number") setHeight(Math.max(lowest, Math.min(highest, data.height)));
      else setFailed(true);
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [chart]);
  if (failed) return <p class="t3 small">{text.noChart}</p>;
  return (
    <iframe
      ref={frame}
      class="chart-shown"
      style={{ height: `${height}px` }}
      src="./frame/chart"
      loading="lazy"
      sandbox="allow-scripts allow-downloads"
      referrerpolicy="no-referrer"
      title={text.chartOf(safeText(chart.title))}
    />
  );
}

/** The chart in a file that an agent's tool wrote; rejects or throws for anything else. */
async function readChart(source: string, signal: AbortSignal): Promise<Chart> {
  const response = await request(source, { signal });
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength > maxBytes) throw new Error("too large");
  const file = JSON.parse(new TextDecoder().decode(bytes)) as ChartFile;
  const [{ shownSpec }, { interactiveSpec }, { menuWords }] = await Promise.all([
    import("manyhands/internal/tools/data/charts/shown-spec"),
    import("manyhands/internal/tools/data/charts/interactive/interactive-spec"),
    import("manyhands/internal/tools/data/charts/interactive/menu-words"),
  ]);
  return {
    title: String(file.title),
    spec: interactiveSpec(shownSpec(file)),
    words: menuWords[language.value === "en" ? "en" : "zh"],
  };
}
