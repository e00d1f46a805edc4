import { AppError } from "../../../../core/errors.ts";
import { firstOf } from "../../../../core/text/counted.ts";
import type { ChartKind, Plot } from "../chart-roles.ts";
import { cycleIn, flowsOf } from "./sankey.ts";
import { countriesMissing } from "./world-map.ts";

const [fewestAxes, maxAxes] = [3, 16];
const maxFlows = 200;
const maxNamed = 12;

/** Kinds whose lines and areas are as large as their values. */
const sized: ReadonlySet<ChartKind> = new Set(["sankey", "radar", "treemap", "wordcloud"]);

/**
 * Rejects with `invalid_input` when the values of a plot cannot be shown in this kind of chart.
 * Returns what is to be said about those that can.
 */
export function requireShape(plot: Plot, kind: ChartKind): readonly string[] {
  if (sized.has(kind)) requireSizes(plot, kind);
  if (kind === "radar") requireAxes(plot);
  if (kind === "sankey") requireFlows(plot);
  if (kind !== "map") return [];
  if (plot.roles.along === undefined) requireDegrees(plot);
  const { unknown, tooSmall } = countriesMissing(plot);
  if (unknown.length > 0)
    refuse(
      `The map knows no country ${list(unknown)}. Names in English, Chinese, German, French or Spanish and ISO codes (DE, DEU) are known: rename or leave out the others first.`,
    );
  return tooSmall.length === 0 ? [] : [`Too small to be seen on this map of the world: ${list(tooSmall)}.`];
}

function requireSizes({ rows, roles: { measures } }: Plot, kind: ChartKind): void {
  const values = rows.flatMap((row) => measures.map((index) => Number(row[index] ?? 0)));
  const below = values.find((value) => value < 0);
  if (below !== undefined) refuse(`A ${kind} shows sizes, and ${below} is below zero. A bar chart shows both.`);
  if (values.every((value) => value === 0)) refuse(`A ${kind} shows sizes, and all values are zero.`);
}

function requireAxes({ columns, rows, roles: { along = 0 } }: Plot): void {
  const axes = new Set(rows.map((row) => row[along])).size;
  if (axes < fewestAxes || axes > maxAxes)
    refuse(
      `A radar has ${fewestAxes} to ${maxAxes} axes, and ${columns[along]?.name} has ${axes} values. A bar chart takes any number.`,
    );
}

function requireFlows(plot: Plot): void {
  const flows = flowsOf(plot);
  if (flows.length > maxFlows)
    refuse(`A sankey of ${flows.length} flows can't be read: ${maxFlows} at most. Sum up the small ones.`);
  const cycle = cycleIn(flows);
  if (cycle !== undefined)
    refuse(
      `A sankey flows one way, and these lead in a circle: ${cycle.slice(0, maxNamed).join(" → ")}. Give sources and targets different names, such as "from A" and "to A".`,
    );
}

function requireDegrees({ columns, rows, roles: { measures } }: Plot): void {
  for (const [at, most] of [180, 90].entries()) {
    const index = measures[at] ?? 0;
    const odd = rows.find((row) => row[index] === null || Math.abs(Number(row[index])) > most)?.[index];
    if (odd !== undefined)
      refuse(
        `${columns[index]?.name} is to be a ${at === 0 ? "longitude" : "latitude"}, from −${most} to ${most}, and holds ${odd ?? "an empty cell"}.`,
      );
  }
}

function list(names: readonly string[]): string {
  return firstOf(
    names.map((name) => JSON.stringify(name)),
    maxNamed,
  );
}

function refuse(problem: string): never {
  throw new AppError("invalid_input", problem);
}
