declare const OffscreenCanvas: new (
  width: number,
  height: number,
) => {
  getContext(kind: "2d"): {
    fillStyle: string;
    fillRect(x: number, y: number, width: number, height: number): void;
    clearRect(x: number, y: number, width: number, height: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: ArrayLike<number> };
  };
};

/**
 * A colour: red, green and blue from 0 to 255, and how much of the background it covers, up to 1.
 */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Reads the colours of a page's styles. Exists in the page, for one look. */
export type Palette = {
  read(text: string): Colour;
  /** A colour as it looks over another. */
  over(colour: Colour, behind: Colour): Colour;
};

/** Runs in the page: creates a palette. */
export function openPalette(): Palette {
  const known = new Map<string, Colour>();
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  const painted = (text: string): Colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = Array.from(canvas.getImageData(0, 0, 1, 1).data);
    return [red, green, blue, alpha / 255];
  };
  return {
    read(text) {
      const before = known.get(text);
      if (before !== undefined) return before;
      const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(text);
      const colour: Colour =
        plain === null ? painted(text) : [Number(plain[1]), Number(plain[2]), Number(plain[3]), Number(plain[4] ?? 1)];
      known.set(text, colour);
      return colour;
    },
    over([red, green, blue, alpha], behind) {
      const mixed = (above: number, below: number) => above * alpha + below * (1 - alpha);
      return [mixed(red, behind[0]), mixed(green, behind[1]), mixed(blue, behind[2]), 1];
    },
  };
}
