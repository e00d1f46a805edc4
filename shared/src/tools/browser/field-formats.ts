/** How the fields are written that take one form only, by their type. */
export const fieldFormats: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "13:05",
  "datetime-local": "2026-01-31T13:05",
  month: "2026-01",
  week: "2026-W05",
};
