import type { Plot } from "../chart-roles.ts";
import { textWidth } from "../text-width.ts";
import { canvas, drawing, layer, pixels, tip } from "./canvas.ts";

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

const [smallest, largest] = [11, 58];
/** How much smaller all words are made when they find no room together. */
const shrink = 0.9;

/** Words as large as their values, around the largest, none turned and none over another. */
export function wordCloudSpec(plot: Plot): Record<string, unknown> {
  const { along = 0, measures } = plot.roles;
  const [measure = 0] = measures;
  const words = plot.rows
    .map((row) => ({ word: String(row[along]), value: Number(row[measure] ?? 0) }))
    .filter(({ value }) => value > 0)
    .toSorted((one, other) => other.value - one.value);
  const top = words[0]?.value ?? 1;
  let placed: readonly object[] | undefined;
  for (let most = largest; placed === undefined; most *= shrink) {
    const sized = words.map((one) => ({
      ...one,
      size: Math.round(Math.max(most / 5, most * Math.sqrt(one.value / top))),
    }));
    placed = placeWords(sized, most < smallest);
  }
  return drawing([
    layer(
      placed,
      { type: "text", baseline: "middle" },
      {
        x: pixels("x", "x"),
        y: pixels("y", "y"),
        text: { field: "word" },
        size: { field: "size", type: "quantitative", scale: null, legend: null },
        color: { field: "value", type: "quantitative", scale: { range: ["#5d8a8c", "#0b4f55"] }, legend: null },
        tooltip: [
          tip("word", plot.columns[along]?.name ?? "", "nominal"),
          tip("value", plot.columns[measure]?.name ?? "", "quantitative"),
        ],
      },
    ),
  ]);
}

/** A place for each word on a spiral; undefined when one finds none, unless that may be. */
function placeWords<Word extends { readonly word: string; readonly size: number }>(
  words: readonly Word[],
  mayOmit: boolean,
): readonly (Word & { x: number; y: number })[] | undefined {
  const taken: Box[] = [];
  const placed: (Word & { x: number; y: number })[] = [];
  for (const one of words) {
    const [width, height] = [textWidth(one.word) * one.size * 1.06 + 8, one.size * 1.15];
    const box = freeBox(width, height, taken);
    if (box === undefined && !mayOmit) return undefined;
    if (box === undefined) continue;
    taken.push(box);
    placed.push({ ...one, x: box.x + width / 2, y: box.y + height / 2 });
  }
  return placed;
}

function freeBox(width: number, height: number, taken: readonly Box[]): Box | undefined {
  const most = canvas.width / 2;
  for (let turn = 0; turn < most * 2; turn += 0.12) {
    const distance = turn * 1.6;
    const x = canvas.width / 2 + distance * Math.cos(turn) - width / 2;
    const y = canvas.height / 2 + distance * 0.62 * Math.sin(turn) - height / 2;
    const isInside = x >= 0 && y >= 0 && x + width <= canvas.width && y + height <= canvas.height;
    if (isInside && taken.every((box) => apart({ x, y, width, height }, box))) return { x, y, width, height };
    if (distance > canvas.width) return undefined;
  }
  return undefined;
}

function apart(one: Box, other: Box): boolean {
  return (
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y
  );
}
