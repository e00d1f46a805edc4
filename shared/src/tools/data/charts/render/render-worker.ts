import { Resvg } from "@resvg/resvg-js";
import * as vega from "vega";
import { type Loader, logger, parse, View, Warn } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { AppError } from "../../../../core/errors.ts";
import { replyOf } from "../../../../machine/process/own-script-reply.ts";
import { textWidth } from "../text-width.ts";
import { type RenderedChart, type RenderRequest, renderRequest } from "./render-protocol.ts";

/** Started by `renderChart`: draws the one chart on its standard input and ends. */

const maxPixels = 4000;
const zoom = 2;

// Without a canvas, Vega assumes that every letter is nearly as wide as high, leaves empty margins
// and omits labels.
const { textMetrics } = vega as unknown as {
  textMetrics: { width: (item: { fontSize?: number }, text: unknown) => number };
};
textMetrics.width = ({ fontSize = 11 }, text) => textWidth(String(text ?? "")) * fontSize;

const request = renderRequest.parse(await Bun.stdin.json());
await replyOf(() =>
  draw(request).catch((error: unknown) => {
    throw new AppError("rejected", `Vega-Lite cannot draw this: ${error instanceof Error ? error.message : error}`);
  }),
);

async function draw({ spec, png }: RenderRequest): Promise<RenderedChart> {
  const quiet = { ...logger(Warn), error: fail, warn: () => quiet, info: () => quiet, debug: () => quiet };
  const { spec: compiled } = compile(spec as unknown as TopLevelSpec, { logger: quiet as never });
  const view = new View(parse(compiled), { loader: refusing(), logger: quiet as never, renderer: "none" });
  const svg = await view.toSVG();
  const [width = 0, height = 0] = [/ width="([\d.]+)"/, / height="([\d.]+)"/].map((size) =>
    Number(size.exec(svg)?.[1]),
  );
  const fits = width <= maxPixels && height <= maxPixels;
  const image = (value: number) =>
    Buffer.from(new Resvg(svg, { fitTo: { mode: "zoom", value }, background: "white" }).render().asPng()).toString(
      "base64",
    );
  if (!png) return { svg, ...(fits && { preview: image(1) }) };
  if (!fits) throw new Error(`The chart is ${width} × ${height}; a PNG may have up to ${maxPixels} pixels a side.`);
  return { svg, png: image(zoom), preview: image(1) };
}

function fail(...words: unknown[]): never {
  throw words.find((word) => word instanceof Error) ?? new Error(words.join(" "));
}

/** Loads nothing, whatever a specification names: no URL, no file, no image, no link. */
function refusing(): Loader {
  const refuse = async (uri: string) => {
    throw new Error(`A chart may not load ${uri}: its data comes from the CSV file.`);
  };
  return { options: {}, load: refuse, sanitize: refuse, http: refuse, file: refuse } as unknown as Loader;
}
