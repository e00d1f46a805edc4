import { hierarchy, treemap } from "d3-hierarchy";
import type { Plot } from "../chart-roles.ts";
import { textWidth } from "../text-width.ts";
import { canvas, drawing, layer, pixels, shortened, tip } from "./canvas.ts";

type Leaf = { readonly name: string; readonly group: string; readonly value: number };
type Branch = { readonly name: string; readonly children: readonly (Branch | Leaf)[] };

const nameSize = 12;
const inset = 5;

/** Rectangles as large as their values, those of a group side by side in a colour. */
export function treemapSpec(plot: Plot): Record<string, unknown> {
  const { along = 0, parts, measures } = plot.roles;
  const cells = cellsOf(plot);
  const title = (index: number | undefined) => plot.columns[index ?? 0]?.name ?? "";
  const texts = { type: "text", align: "left", baseline: "top", fontSize: nameSize, tooltip: null };
  const colour = { field: "group", type: "nominal", sort: null, scale: { scheme: "pastel1" } };
  return drawing([
    layer(
      cells,
      { type: "rect" },
      {
        x: pixels("x", "x0"),
        x2: { field: "x1" },
        y: pixels("y", "y0"),
        y2: { field: "y1" },
        color: { ...colour, title: title(parts ?? along), ...(parts === undefined && { legend: null }) },
        tooltip: [
          tip("name", title(along), "nominal"),
          ...(parts === undefined ? [] : [tip("group", title(parts), "nominal")]),
          tip("value", title(measures[0]), "quantitative"),
        ],
      },
    ),
    layer(
      cells,
      { ...texts, color: "#14201f" },
      { x: pixels("x", "left"), y: pixels("y", "top"), text: { field: "label" } },
    ),
    layer(
      cells,
      { ...texts, color: "#44524f" },
      { x: pixels("x", "left"), y: pixels("y", "below"), text: { field: "figure" } },
    ),
  ]);
}

/** The rectangles and what fits into them of their names and values. */
function cellsOf({ rows, roles: { along = 0, parts, measures } }: Plot): readonly object[] {
  const leaves = rows
    .map((row): Leaf => {
      const name = String(row[along]);
      return {
        name,
        group: parts === undefined ? name : String(row[parts]),
        value: Number(row[measures[0] ?? 0] ?? 0),
      };
    })
    .filter(({ value }) => value > 0);
  const groups = Map.groupBy(leaves, ({ group }) => group);
  const root: Branch = { name: "", children: [...groups].map(([name, children]) => ({ name, children })) };
  const sized = hierarchy<Branch | Leaf>(root, (node) => ("children" in node ? [...node.children] : undefined))
    .sum((node) => ("value" in node ? node.value : 0))
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const placed = treemap<Branch | Leaf>().size([canvas.width, canvas.height]).paddingInner(2).round(true)(sized);
  return placed.leaves().map(({ data, x0, x1, y0, y1 }) => {
    const { name, group, value } = data as Leaf;
    const [width, height] = [x1 - x0 - 2 * inset, y1 - y0];
    const label = height > nameSize + 6 ? shortened(name, width, nameSize, textWidth) : "";
    const text = value.toLocaleString("en");
    const isRoomy = label !== "" && height > 2 * nameSize + 12 && textWidth(text) * nameSize <= width;
    const texts = { label, figure: isRoomy ? text : "" };
    return { name, group, value, x0, x1, y0, y1, ...texts, left: x0 + inset, top: y0 + inset, below: y0 + inset + 16 };
  });
}
