import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

const colours = { " ": "dim", "→": "cyan", "✓": "green", "!": "yellow" } as const;

const stepLine = /^\d+\. \[([ →✓!])\] (.*)$/gmu;

/** The steps of the plan that a `planning` result shows, a line each with its mark; none where it shows no plan. */
export function planLines(result: string, style: Style): string[] {
  return [...result.matchAll(stepLine)].map(([, mark = " ", step = ""]) => {
    const colour = colours[mark as keyof typeof colours];
    return `    ${paint(style, colour, `[${mark}] ${safeLine(step, style.columns - 10)}`)}`;
  });
}

/** The same steps and marks, to be compared with those of another result. */
export function planMarks(result: string): string {
  return [...result.matchAll(stepLine)].map(([, mark = " ", step = ""]) => `${mark} ${step}`).join("\n");
}
