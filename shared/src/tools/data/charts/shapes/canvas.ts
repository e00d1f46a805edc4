/** The size of the drawings whose places are computed here, in pixels. */
export const canvas = { width: 640, height: 420 } as const;

/** Layers on the canvas, without a frame. */
export function drawing(layers: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  return { ...canvas, view: { stroke: null }, layer: layers };
}

/** A channel that takes pixels as they are, from the top left, and shows no axis. */
export function pixels(channel: "x" | "y", field: string, title?: string): Record<string, unknown> {
  const most = channel === "x" ? canvas.width : canvas.height;
  const scale = { domain: [0, most], nice: false, zero: false, reverse: channel === "y" };
  return { field, type: "quantitative", scale, axis: null, ...(title !== undefined && { title }) };
}

/** A layer over data of its own, whose figures are places computed beforehand. */
export function layer(
  values: readonly object[],
  mark: Readonly<Record<string, unknown>>,
  encoding: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { data: { values }, mark, encoding };
}

/** What is shown of a value at the pointer. */
export function tip(field: string, title: string, type: "nominal" | "quantitative"): Record<string, unknown> {
  return { field, title, type, ...(type === "quantitative" && { format: ",.6~r" }) };
}

/** A text that fits into this width, in pixels, shortened where it must be. */
export function shortened(text: string, width: number, size: number, widthOf: (text: string) => number): string {
  if (widthOf(text) * size <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && widthOf(`${letters.join("")}…`) * size > width) letters.pop();
  return letters.length > 1 ? `${letters.join("")}…` : "";
}
