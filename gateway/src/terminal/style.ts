/** How to format output. */
export type Style = {
  readonly color: boolean;
  /** Columns of a line; longer text is cut to fit. */
  readonly columns: number;
};

/** The style of a stream: colours only on a terminal that wants them (`NO_COLOR`, `TERM=dumb`). */
export function styleOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const wanted = (env.NO_COLOR === undefined || env.NO_COLOR === "") && env.TERM !== "dumb";
  return { color: stream.isTTY === true && wanted, columns: Math.max(40, Math.min(stream.columns ?? 100, 160)) };
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** The sequences that `paint` writes, as one group. */
export const painted = new RegExp(`(\x1b\\[(?:0|${Object.values(codes).join("|")})m)`);

/** A text in a colour, or unchanged without colours. */
export function paint(style: Style, color: keyof typeof codes, text: string): string {
  return style.color ? `\x1b[${codes[color]}m${text}\x1b[0m` : text;
}
