import type { PageElement, PageStyle, PageWindow } from "./dom.ts";
import type { Colour, Palette } from "./palette.ts";
import type { Reader } from "./reader.ts";

declare const window: PageWindow;
/** What surrounds an element. */
type Surroundings = {
  readonly clipped: boolean;
  readonly scrolled: boolean;
  readonly opacity: number;
  /** Whether its letters are cut out of a picture. */
  readonly cutOut: boolean;
  /** The colour behind it; undefined over a picture. */
  readonly behind: Colour | undefined;
};

/** Decides which texts a person could see. Exists in the page, for one look. */
export type Visibility = { sees(element: PageElement): boolean };

/**
 * Runs in the page: creates a `Visibility` for its texts. Texts are unseen when
 * transparent, tiny, clipped away, outside the page, or of the colour behind them.
 */
export function openVisibility(reader: Reader, { read, over }: Palette): Visibility {
  const clippedAway = (style: PageStyle, element: PageElement) => {
    if (/rect\((?:[01](?:px)?,? ?){4}\)/.test(style.clip)) return true;
    if (/inset\((?:50|100)%|(?:circle|ellipse)\(0(?:px|%)?[ )]/.test(style.clipPath)) return true;
    return style.overflow !== "visible" && (element.clientWidth < 3 || element.clientHeight < 3);
  };
  const isScrolled = ({ overflow }: PageStyle, element: PageElement) =>
    (overflow !== "visible" || reader.tag(element) === "BODY") && (element.scrollTop > 0 || element.scrollLeft > 0);
  const known = new Map<PageElement, Surroundings>();
  const surroundings = (element: PageElement): Surroundings => {
    const cached = known.get(element);
    if (cached !== undefined) return cached;
    const parent = reader.parent(element) ?? null;
    const white: Colour = [255, 255, 255, 1];
    const outer =
      parent === null
        ? { clipped: false, scrolled: false, opacity: 1, cutOut: false, behind: white }
        : surroundings(parent);
    const style = reader.style(element);
    const picture = style.backgroundImage !== "none";
    const letters = style.backgroundClip === "text";
    const own = read(style.backgroundColor);
    const plain = outer.behind === undefined ? (own[3] < 1 ? undefined : own) : over(own, outer.behind);
    const { filter } = style;
    const filtered = filter === "none" ? 1 : Number(/opacity\(([\d.]+)\)/.exec(filter)?.[1] ?? 1);
    const found: Surroundings = {
      clipped: outer.clipped || (!/^(?:inline|contents)$/.test(style.display) && clippedAway(style, element)),
      scrolled: outer.scrolled || (parent !== null && isScrolled(style, element)),
      opacity: outer.opacity * Number(style.opacity) * filtered,
      cutOut: outer.cutOut || (letters && picture),
      behind: letters ? outer.behind : picture ? undefined : plain,
    };
    known.set(element, found);
    return found;
  };
  /** Whether a colour is distinguishable from its background. */
  const stands = (text: string, { opacity, behind }: Surroundings) => {
    const [red, green, blue, own] = read(text);
    const alpha = own * opacity;
    if (behind === undefined) return alpha > 0.05;
    return over([red, green, blue, alpha], behind).some((part, index) => Math.abs(part - (behind[index] ?? 0)) > 11);
  };
  /** The element that lays out an element's text: one that has a box. */
  const boxOf = (element: PageElement, style: PageStyle): PageElement => {
    const parent = reader.parent(element);
    return style.display === "contents" && parent !== undefined ? boxOf(parent, reader.style(parent)) : element;
  };
  return {
    sees(element) {
      const style = reader.style(element);
      const boxed = boxOf(element, style);
      if (!reader.isRendered(boxed)) return false;
      if (style.visibility !== "visible" || style.contentVisibility === "hidden") return false;
      if (Number.parseFloat(style.fontSize) < 2 || Number.parseFloat(style.textIndent) < -900) return false;
      const box = reader.box(boxed);
      const around = surroundings(element);
      if (around.clipped || (box.width < 1 && box.height < 1)) return false;
      if (!around.scrolled && (box.right + window.scrollX <= 0 || box.bottom + window.scrollY <= 0)) return false;
      // The text of a drawing gets its colour from elsewhere, and its background is what is drawn.
      if (reader.closest(element, "svg") !== null || around.cutOut) return around.opacity > 0.05;
      const { textShadow } = style;
      const shadow = textShadow === "none" ? undefined : /^[a-z]+\([^)]*\)/.exec(textShadow)?.[0];
      const inked = [style.webkitTextFillColor, ...(shadow === undefined ? [] : [shadow])];
      if (Number.parseFloat(style.webkitTextStrokeWidth) > 0) inked.push(style.webkitTextStrokeColor);
      return inked.some((colour) => stands(colour, around));
    },
  };
}
