/**
 * Bytes of a size such as `512m` or `2g` (of 1024, as containers count); NaN for any other text.
 */
export function bytesOf(size: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([kmg]?)b?$/i.exec(size) ?? [];
  return Math.floor(Number(amount) * 1024 ** ["", "k", "m", "g"].indexOf(unit.toLowerCase()));
}
