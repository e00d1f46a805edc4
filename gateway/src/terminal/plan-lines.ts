import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

const colours = { " ": "dim", "→": "cyan", "✓": "green", "!": "yellow" } as const;

/** The steps of the plan that a `planning` result shows, a line each with its mark; none where it shows no plan. */
export function planLines(result: string, style: Style): string[] {
  return [...result.matchAll(/^\d+\. \[([ →✓!])\] (.*)$/gmu)].map(([, mark = " ", step = ""]) => {
    const colour = colours[mark as keyof typeof colours];
    return `    ${paint(style, colour, `[${mark}] ${safeLine(step, style.columns - 10)}`)}`;
  });
}
