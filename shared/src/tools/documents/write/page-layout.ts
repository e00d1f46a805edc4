/**
 * What ends a page, alone in its paragraph: LaTeX's words and the usual HTML, shown as text here.
 */
const pageEnd =
  /<p>(?:\\(?:newpage|pagebreak|clearpage)|&lt;(div|p|br|hr) style=&quot;\s*(?:page-)?break-(?:after|before):\s*(?:always|page);?\s*&quot;\s*\/?&gt;(?:&lt;\/\1&gt;)?)<\/p>/g;
const sizedImage = /(<img src="[^"]*"[^>]*?) ?\/?>\{([^{}<>\n]{1,300})\}/g;
const attributes = /^(?:\s*(?:[#.][\w-]+|[\w-]+\s*=\s*(?:&quot;[^&]*&quot;|[^\s&]+)))+\s*$/;
const length = /(?:^|\s)(width|height)\s*=\s*(?:&quot;)?\s*(\d{1,5}(?:\.\d{1,4})?)\s*(%|px|cm|mm|in|pt)?/g;

/**
 * The HTML of Markdown with pandoc's `\newpage`, as `<hr class="page-break">`, and its attributes
 * of pictures (`![](a.png){width=50%}`) as their style. Sizes without a unit are pixels; other
 * attributes have no effect.
 */
export function withLayout(html: string): string {
  return html
    .replaceAll(pageEnd, '<hr class="page-break" />')
    .replaceAll(sizedImage, (whole, tag: string, given: string) => {
      if (!attributes.test(given)) return whole;
      const sizes = [...given.matchAll(length)].map(([, name, number, unit = "px"]) => `${name}: ${number}${unit}`);
      return `${tag}${sizes.length === 0 ? "" : ` style="${sizes.join("; ")}"`} />`;
    });
}

/** Pixels of the units of sizes, at 96 to the inch. */
const pixels: Readonly<Record<string, number>> = { px: 1, pt: 96 / 72, in: 96, cm: 96 / 2.54, mm: 9.6 / 2.54 };

/**
 * The size in pixels that a picture's style asks for, of its own size, in a page this wide: a side
 * that is not given keeps the proportions.
 */
export function sizeFrom(
  style: string,
  own: { readonly width: number; readonly height: number },
  pageWidth: number,
): { readonly width: number; readonly height: number } {
  const side = (name: string, whole: number) => {
    const [, number, unit = "px"] = new RegExp(`\\b${name}: ([\\d.]+)(%|[a-z]+)`).exec(style) ?? [];
    if (number === undefined) return undefined;
    return Math.max(1, unit === "%" ? (whole * Number(number)) / 100 : Number(number) * (pixels[unit] ?? 1));
  };
  const [width, height] = [side("width", pageWidth), side("height", own.height)];
  if (width !== undefined) return { width, height: height ?? (own.height * width) / own.width };
  return height === undefined ? own : { width: (own.width * height) / own.height, height };
}
