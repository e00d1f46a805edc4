/** A line of a drawing; faint ones connect, filled ones are where the flow ends. */
type Line = { readonly d: string; readonly faint?: true; readonly filled?: true; readonly dashed?: true };

/** How each flow works, as a small drawing. */
export const flowDrawings: Readonly<Record<string, readonly Line[]>> = {
  planning: [
    {
      d: "M9 15 C18 15 18 5 27 5M9 15h18M9 15C18 15 18 25 27 25M35 5C46 5 46 15 58 15M35 15h23M35 25C46 25 46 15 58 15",
      faint: true,
    },
    { d: "M1 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M27 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M27 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M27 25a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
  ],
  sequential: [
    { d: "M9 15h10M28 15h10M47 15h10", faint: true },
    { d: "M1 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M20 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M39 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
  ],
  parallel: [
    { d: "M9 15h6V5h15M15 15h15M15 15v10h15M39 5h14v10h5M39 15h19M39 25h14V15", faint: true },
    { d: "M1 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M30.5 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M30.5 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M30.5 25a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
  ],
  conditional: [
    { d: "M9 15h11M30 12C40 8 42 5 58 5", faint: true },
    { d: "M30 18C40 22 42 25 58 25", faint: true, dashed: true },
    { d: "M26 9.500 31.500 15 26 20.500 20.500 15z" },
    { d: "M1 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
    { d: "M58 25a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
  ],
  loop: [
    { d: "M9 15h9M49 15h9M23 11.300C26 2 42 2 45 11.300M45 18.700C42 28 26 28 23 18.700", faint: true },
    { d: "M1 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M18 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M41 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
  ],
  debate: [
    { d: "M9 6h22M9 24h22M13 8l16 14M13 22 29 8M39 6C48 6 50 11 58 14M39 24C48 24 50 19 58 16", faint: true },
    { d: "M1 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M1 24a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M31 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M31 24a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" },
    { d: "M58 15a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", filled: true },
  ],
};
