import type { Model } from "@ironcalc/wasm";
import { formatValue } from "hucre";
import { type CellValue, colToLetter, type WriteSheet } from "hucre/xlsx";
import { firstOf } from "../../../core/text/counted.ts";
import { areaRead, lastFormulas, nameOf, type PlacedFormula, readersOf } from "./formula-dependencies.ts";

/** What a formula gives, or the error it shows, such as `#DIV/0!`. */
export type Computed = { readonly value: string | number | boolean } | { readonly error: string };

/** Of a workbook with more cells, or more cells to be read by formulas, nothing is computed. */
const maxCells = 30_000;
const maxRead = 3_000_000;

/**
 * What the engine shows for what it lacks; anything else that it cannot compute is an error in any
 * program.
 */
const lacking = new Set(["#NAME?", "#N/IMPL!", "#SPILL!", "#CALC!", "#ERROR!"]);

/** How the engine tells the types of what formulas give. */
const types = { number: 1, boolean: 4, error: 16 };

const dayMs = 86_400_000;
/** Day 0 of a workbook's calendar. */
const epoch = Date.UTC(1899, 11, 30);

/**
 * What the formulas of a workbook give, by `sheet!row,column` counted from 0. Formulas that cannot
 * be computed here are left out, and so are those that read them, which could make a value of the
 * error; of a workbook too large to be computed in seconds, all. `names` are words that nobody
 * knows.
 */
export async function computedFormulas(
  sheets: readonly WriteSheet[],
  formulas: readonly PlacedFormula[],
  names: readonly string[] = [],
): Promise<ReadonlyMap<string, Computed>> {
  const computed = new Map<string, Computed>();
  const cells = sheets.reduce((sum, { rows = [] }) => sum + rows.reduce((all, { length }) => all + length, 0), 0);
  const used = new Map(sheets.map(({ name, rows = [] }) => [name.toLowerCase(), rows.length]));
  if (formulas.length === 0 || cells > maxCells || areaRead(formulas, used) > maxRead) return computed;
  const { Model } = await loadEngine();
  try {
    const model = new Model("Workbook", "en", "UTC", "en");
    const results = resultsOf(model, sheets, formulas);
    const words = [...names, ...unknownFunctions(model, formulas)].map((word) => word.toLowerCase());
    const unsure = formulas.filter(
      (one, at) =>
        results[at] === undefined || spills(model, sheets, one) || wordsIn(one).some((word) => words.includes(word)),
    );
    const left = readersOf(new Set(unsure), formulas);
    for (const [at, one] of formulas.entries()) {
      const result = results[at];
      if (result !== undefined && !left.has(one)) computed.set(placeOf(one), result);
    }
  } catch {
    // The engine gives up on some formulas, such as one of a thousand terms: nothing is known then.
  }
  return computed;
}

function resultsOf(
  model: Model,
  sheets: readonly WriteSheet[],
  formulas: readonly PlacedFormula[],
): (Computed | undefined)[] {
  enter(model, sheets);
  const places = new Map(sheets.map(({ name }, at) => [name, at]));
  const texts = sheets.length;
  model.newSheet();
  // A number as a text has all its digits, which no number format gives.
  for (const [at, { sheet, row, column }] of formulas.entries())
    model.setUserInput(texts, at + 1, 1, `='${sheet.replaceAll("'", "''")}'!${colToLetter(column - 1)}${row}&""`);
  model.resumeEvaluation();
  model.evaluate();
  return formulas.map(({ sheet, row, column }, at) => {
    const type: number = model.getCellType(places.get(sheet) ?? 0, row, column);
    const text = model.getFormattedCellValue(texts, at + 1, 1);
    if (type === types.error) return lacking.has(text) ? undefined : { error: text };
    return { value: type === types.number ? Number(text) : type === types.boolean ? text === "TRUE" : text };
  });
}

/**
 * Whether the engine gives a formula several cells, where a program that opens the file takes the
 * one of its row or column.
 */
function spills(model: Model, sheets: readonly WriteSheet[], { sheet, row, column }: PlacedFormula): boolean {
  const at = sheets.findIndex(({ name }) => name === sheet);
  const { rows = [], cells } = sheets[at] ?? {};
  return [[row + 1, column] as const, [row, column + 1] as const].some(([beside, next]) => {
    const isEmpty = inputOf(rows[beside - 1]?.[next - 1] ?? null) === undefined;
    const isEntered = !isEmpty || cells?.get(`${beside - 1},${next - 1}`)?.formula !== undefined;
    return !isEntered && model.getFormattedCellValue(at, beside, next) !== "";
  });
}

/**
 * The functions of the formulas that the engine does not know, also where their error is hidden.
 */
function unknownFunctions(model: Model, formulas: readonly PlacedFormula[]): string[] {
  const called = new Set(formulas.flatMap(wordsIn).filter((word) => word.endsWith("(")));
  model.newSheet();
  const sheet = model.getWorksheetsProperties().length - 1;
  for (const [at, word] of [...called].entries()) model.setUserInput(sheet, at + 1, 1, `=${word})`);
  model.evaluate();
  return [...called].filter((_, at) => model.getFormattedCellValue(sheet, at + 1, 1) === "#NAME?");
}

/** The names in a formula in small letters, those of functions with their bracket. */
function wordsIn({ formula }: PlacedFormula): string[] {
  const outside = formula.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'!/g, " ");
  return (outside.match(/[A-Za-z_\\][\w.\\]*\(?/g) ?? []).map((word) => word.toLowerCase());
}

async function loadEngine() {
  const engine = await import("@ironcalc/wasm");
  engine.initSync({ module: await Bun.file(new URL(import.meta.resolve("@ironcalc/wasm/wasm_bg.wasm"))).bytes() });
  return engine;
}

function enter(model: Model, sheets: readonly WriteSheet[]): void {
  model.pauseEvaluation();
  for (const [at, { name, rows = [], cells }] of sheets.entries()) {
    if (at > 0) model.newSheet();
    model.renameSheet(at, name);
    for (const [top, row] of rows.entries())
      for (const [left, value] of row.entries()) {
        const { formula, type } = cells?.get(`${top},${left}`) ?? {};
        const entered = formula !== undefined ? `=${formula}` : type === "error" ? String(value) : inputOf(value);
        if (entered !== undefined) model.setUserInput(at, top + 1, left + 1, entered);
      }
  }
}

/** A value as a person would type it; undefined for an empty cell. */
function inputOf(value: CellValue): string | undefined {
  if (value === null || value === "") return undefined;
  if (value instanceof Date) return String((value.getTime() - epoch) / dayMs);
  return typeof value === "string" ? `'${value}` : String(value).toUpperCase();
}

function placeOf({ sheet, row, column }: Pick<PlacedFormula, "sheet" | "row" | "column">): string {
  return `${sheet}!${row - 1},${column - 1}`;
}

/**
 * What the formulas give, in words: the errors, the results that no other formula reads, as their
 * cells show them, and which were not computed.
 */
export function computedNote(
  formulas: readonly PlacedFormula[],
  computed: ReadonlyMap<string, Computed>,
  sheets: readonly WriteSheet[],
): string {
  const last = new Set(lastFormulas(formulas));
  const [errors, results, unknown]: [string[], string[], string[]] = [[], [], []];
  for (const one of formulas) {
    const result = computed.get(placeOf(one));
    if (result === undefined) unknown.push(nameOf(one));
    else if ("error" in result) errors.push(`${nameOf(one)} ${result.error}`);
    else if (last.has(one)) results.push(`${nameOf(one)} = ${shown(result.value, one, sheets)}`);
  }
  return [
    errors.length > 0 ? ` Formulas that give an error: ${firstOf(errors, 8)}.` : "",
    results.length > 0 ? ` Formulas give ${firstOf(results, 8)}.` : "",
    unknown.length > 0
      ? ` Computed only when it is opened: ${firstOf(unknown, 4)}; check them by computing yourself.`
      : "",
  ].join("");
}

/** A text may come from a file, and is not repeated. */
function shown(value: string | number | boolean, one: PlacedFormula, sheets: readonly WriteSheet[]): string {
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return String(value).toUpperCase();
  const cells = sheets.find(({ name }) => name === one.sheet)?.cells;
  const format = cells?.get(`${one.row - 1},${one.column - 1}`)?.style?.numFmt;
  return format === undefined ? String(Number(value.toPrecision(12))) : formatValue(value, format);
}
