import { Resvg } from "@resvg/resvg-js";
import * as vega from "vega";
import { type Loader, logger, parse, View, Warn } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { type RenderReply, type RenderRequest, renderRequest } from "./render-protocol.ts";
import { textWidth } from "./text-width.ts";

/** Started by `renderChart`: draws the one chart on its standard input and ends. */

const mostPixels = 4000;
const zoom = 2;

// Without a canvas Vega takes every letter for nearly as wide as high, and leaves empty margins and labels out.
const { textMetrics } = vega as unknown as {
  textMetrics: { width: (item: { fontSize?: number }, text: unknown) => number };
};
textMetrics.width = ({ fontSize = 11 }, text) => textWidth(String(text ?? "")) * fontSize;

const reply = await draw(renderRequest.parse(await Bun.stdin.json())).catch(
  (error): RenderReply => ({ ok: false, message: error instanceof Error ? error.message : String(error) }),
);
await Bun.write(Bun.stdout, JSON.stringify(reply));
process.exit(0);

async function draw({ spec, png }: RenderRequest): Promise<RenderReply> {
  const quiet = { ...logger(Warn), error: fail, warn: () => quiet, info: () => quiet, debug: () => quiet };
  const { spec: compiled } = compile(spec as unknown as TopLevelSpec, { logger: quiet as never });
  const view = new View(parse(compiled), { loader: refusing(), logger: quiet as never, renderer: "none" });
  const svg = await view.toSVG();
  if (!png) return { ok: true, svg };
  const [width = 0, height = 0] = [/ width="([\d.]+)"/, / height="([\d.]+)"/].map((size) =>
    Number(size.exec(svg)?.[1]),
  );
  if (!(width <= mostPixels && height <= mostPixels))
    throw new Error(`The chart is ${width} × ${height}; a PNG may have up to ${mostPixels} pixels a side.`);
  const image = new Resvg(svg, { fitTo: { mode: "zoom", value: zoom }, background: "white" }).render().asPng();
  return { ok: true, svg, png: Buffer.from(image).toString("base64") };
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
