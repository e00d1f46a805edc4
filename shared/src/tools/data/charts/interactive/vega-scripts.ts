import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lazily } from "../../../../core/async/lazy.ts";

/** A script that a page contains, and its hash as a policy names it. */
export type PageScript = { readonly text: string; readonly hash: string };

/** Vega, Vega-Lite and vega-embed as their packages ship them for pages, read once. */
export const vegaScripts = lazily(async (): Promise<PageScript> => {
  const texts = await Promise.all(
    [
      builtFor(import.meta.resolve("vega"), "vega"),
      builtFor(import.meta.resolve("vega-lite"), "vega-lite"),
      builtFor(import.meta.resolve("vega-embed"), "vega-embed"),
    ].map((path) => Bun.file(path).text()),
  );
  const withoutMaps = texts.map((text) => text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, ""));
  return pageScript(withoutMaps.join(";\n"));
});

/** Where a package has, beside its module, what it ships for pages. */
function builtFor(module: string, name: string): string {
  return join(dirname(fileURLToPath(module)), `${name}.min.js`);
}

/** A script for a page; what would end its element is written so that it does not. */
export function pageScript(text: string): PageScript {
  const safe = text.replaceAll(/<\/(?=script)/gi, "<\\/").replaceAll("<!--", "<\\!--");
  return { text: safe, hash: `'sha256-${createHash("sha256").update(safe).digest("base64")}'` };
}

/**
 * Draws a specification, its expressions interpreted and never compiled, with a menu to save the
 * picture. Nothing that it names is loaded: a loader of its own refuses, and so does the page's
 * policy. `words` are those of the menu.
 */
export const drawFunction = `const drawChart = (element, spec, words) => {
  const refuse = () => Promise.reject(new Error("A chart loads nothing."));
  return vegaEmbed(element, spec, {
    mode: "vega-lite",
    ast: true,
    renderer: "svg",
    loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
    i18n: words,
    downloadFileName: "chart",
    logLevel: 0,
  });
};`;
