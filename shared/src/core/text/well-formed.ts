/**
 * A value of JSON in which a replacement character stands for each half of a surrogate pair that
 * stands alone, in texts and in names of fields; the same object if there is none. JSON can write
 * such halves as escapes, but what reads it as UTF-8 refuses the whole document.
 */
export function wellFormed<Value>(value: Value): Value {
  return mended(value) as Value;
}

function mended(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(mended);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value);
  const fields = entries.map(([name, field]) => [name.toWellFormed(), mended(field)] as const);
  const isSame = fields.every(([name, field], at) => name === entries[at]?.[0] && field === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(fields);
}
