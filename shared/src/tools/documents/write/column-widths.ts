import { formatValue } from "hucre";
import { type CellValue, measureValueWidth } from "hucre/xlsx";

const [narrowest, widest] = [8, 60];
/** A proportional font, and the cell's own margin. */
const [perCharacter, margin] = [1.15, 2];
/** What a formula may give: a column that is too narrow for a number shows only `###`. */
const computed = -1_234_567.89;

/** How wide the columns of a sheet are to be, for what is shown in them. */
export function columnWidths() {
  const most: number[] = [];
  return {
    /** Takes a cell into account, by its column from 0; `value` is undefined for a formula's. */
    fit(column: number, value: CellValue | undefined, format: string | undefined): void {
      const shown = formatted(value === undefined ? computed : value, format);
      most[column] = Math.max(most[column] ?? 0, measureValueWidth(shown));
    },
    /** Widths in characters. Texts that are longer than the widest are wrapped. */
    widths: (count: number): { readonly width: number }[] =>
      Array.from({ length: count }, (_, column) => ({
        width: Math.min(widest, Math.max(narrowest, Math.ceil((most[column] ?? 0) * perCharacter + margin))),
      })),
  };
}

/** Whether a text has no room in one line of the widest column. */
export function isWrapped(value: CellValue): boolean {
  return typeof value === "string" && measureValueWidth(value) * perCharacter + margin > widest;
}

function formatted(value: CellValue, format: string | undefined): CellValue {
  const isNumber = typeof value === "number" || value instanceof Date;
  return isNumber && format !== undefined ? formatValue(value, format) : value;
}
