import { type SankeyLink, type SankeyNode, sankey, sankeyJustify } from "d3-sankey";
import type { Plot } from "../chart-roles.ts";
import { textWidth } from "../text-width.ts";
import { canvas, drawing, layer, pixels, shortened, tip } from "./canvas.ts";

type Node = { readonly name: string; readonly layer?: number };
type Flow = { readonly source: string; readonly target: string; readonly value: number };

const steps = 24;
const labelSize = 12;

/**
 * The flows of a plot: from the column along, to the column of the parts. Flows of nothing are left
 * out.
 */
export function flowsOf({ rows, roles: { along = 0, parts = 0, measures } }: Plot): readonly Flow[] {
  return rows
    .map((row) => ({
      source: String(row[along]),
      target: String(row[parts]),
      value: Number(row[measures[0] ?? 0] ?? 0),
    }))
    .filter(({ value }) => value > 0);
}

/** Names that lead back to themselves along the flows, as a path; undefined if none do. */
export function cycleIn(flows: readonly Flow[]): readonly string[] | undefined {
  const next = Map.groupBy(flows, ({ source }) => source);
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const { target } of next.get(name) ?? []) {
      const found = visit(target, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of next.keys()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Bands between names, as wide as what flows; names that both receive and give stand between. */
export function sankeySpec(plot: Plot): Record<string, unknown> {
  const { names, nodes, bands } = placesOf(flowsOf(plot));
  const column = (index: number | undefined) => plot.columns[index ?? 0]?.name ?? "";
  const { along, parts, measures } = plot.roles;
  const amount = tip("value", column(measures[0]), "quantitative");
  const colour = { type: "nominal", scale: { domain: names }, legend: null };
  const texts = { type: "text", fontSize: labelSize, color: "#14201f", tooltip: null };
  return drawing([
    layer(
      bands,
      { type: "area", opacity: 0.42 },
      {
        x: pixels("x", "x"),
        y: pixels("y", "top"),
        y2: { field: "bottom" },
        detail: { field: "id" },
        color: { field: "from", ...colour },
        tooltip: [tip("from", column(along), "nominal"), tip("to", column(parts), "nominal"), amount],
      },
    ),
    layer(
      nodes,
      { type: "rect" },
      {
        x: pixels("x", "x0"),
        x2: { field: "x1" },
        y: pixels("y", "y0"),
        y2: { field: "y1" },
        color: { field: "name", ...colour },
        tooltip: [tip("name", column(along), "nominal"), amount],
      },
    ),
    ...[false, true].map((isLast) =>
      layer(
        nodes.filter((node) => node.isLast === isLast),
        { ...texts, align: isLast ? "right" : "left" },
        { x: pixels("x", "at"), y: pixels("y", "middle"), text: { field: "label" } },
      ),
    ),
  ]);
}

/** Where the names and the bands between them are. */
function placesOf(flows: readonly Flow[]) {
  const names = [...new Set(flows.flatMap(({ source, target }) => [source, target]))];
  const graph = sankey<Node, Flow>()
    .nodeId(({ name }) => name)
    .nodeAlign(sankeyJustify)
    .nodeWidth(14)
    .nodePadding(Math.max(4, Math.min(14, 240 / names.length)))
    .extent([
      [0, 0],
      [canvas.width, canvas.height],
    ])({ nodes: names.map((name) => ({ name })), links: flows.map((flow) => ({ ...flow })) });
  const columns = 1 + Math.max(...graph.nodes.map(({ layer: column = 0 }) => column));
  const room = canvas.width / Math.max(1, columns - 1) / 2 + 20;
  const nodes = graph.nodes.map(({ x0 = 0, x1 = 0, y0 = 0, y1 = 0, value = 0, name, layer: column = 0 }) => {
    const isLast = column === columns - 1;
    const label = shortened(name, room, labelSize, textWidth);
    return { name, value, x0, x1, y0, y1, label, at: isLast ? x0 - 6 : x1 + 6, middle: (y0 + y1) / 2, isLast };
  });
  return { names, nodes, bands: graph.links.flatMap(bandOf) };
}

/** The upper and lower edge of a flow, bent between its ends. */
function bandOf({ source, target, value, width = 0, y0 = 0, y1 = 0 }: SankeyLink<Node, Flow>, id: number) {
  // d3-sankey puts the nodes where their names were.
  const [from, to] = [source as SankeyNode<Node, Flow>, target as SankeyNode<Node, Flow>];
  const [left, right] = [from.x1 ?? 0, to.x0 ?? 0];
  return Array.from({ length: steps + 1 }, (_, step) => {
    const part = step / steps;
    const middle = y0 + (y1 - y0) * part * part * (3 - 2 * part);
    const x = left + (right - left) * part;
    return { id, from: from.name, to: to.name, value, x, top: middle - width / 2, bottom: middle + width / 2 };
  });
}
