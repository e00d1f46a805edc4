import { expect, test } from "bun:test";
import { looksTyped, quotedFormat, suits, typedValue } from "./typed-value.ts";

const at = (text: string) => new Date(`${text}Z`);

test.each<[string, Date | number, string]>([
  ["2026-03-01", at("2026-03-01T00:00"), "yyyy-mm-dd"],
  ["2026-03-01 14:30", at("2026-03-01T14:30"), "yyyy-mm-dd hh:mm"],
  ["2026-03-01T14:30:05Z", at("2026-03-01T14:30:05"), "yyyy-mm-dd hh:mm:ss"],
  ["2026-03-01 14:30:05.25", at("2026-03-01T14:30:05.250"), "yyyy-mm-dd hh:mm:ss"],
  ["12 %", 0.12, "0 %"],
  ["12.5%", 0.125, "0.0%"],
  ["12,5 %", 0.125, "0.0 %"],
  ["-7%", -0.07, "0%"],
  ["0.125%", 0.00125, "0.000%"],
  ["1,234.50 €", 1234.5, '#,##0.00" €"'],
  ["1.234,50 €", 1234.5, '#,##0.00" €"'],
  ["1 234,50 €", 1234.5, '#,##0.00" €"'],
  ["5 EUR", 5, '#,##0" EUR"'],
  ["$1,234,567", 1_234_567, '"$"#,##0'],
  ["-$5.00", -5, '"$"#,##0.00'],
  ["€ −5", -5, '"€ "#,##0'],
  ["CHF 1'234,50", 1234.5, '"CHF "#,##0.00'],
  ["$1,234", 1234, '"$"#,##0'],
  ["1,234 USD", 1234, '#,##0" USD"'],
  ["+3 €", 3, '#,##0" €"'],
  ["1,234.50", 1234.5, "#,##0.00"],
  ["1.234.567,8", 1_234_567.8, "#,##0.0"],
])("%p is a value with a format", (text, value, format) => {
  expect(typedValue(text)).toEqual({ value, format });
  expect(looksTyped(text)).toBe(false);
});

test.each<[string, boolean]>([
  ["", false],
  ["%", false],
  ["€", false],
  ["007", false],
  ["2024", false],
  ["12 apples", false],
  ["about 12 %", false],
  ["2023-02-29", false],
  ["2026-03-01T14:30:00+02:00", false],
  ["192.168.100.100", false],
  ["$5 €", true],
  ["030 12 34", false],
  ["9".repeat(41), false],
  // They could be two numbers, a version, or two days.
  ["1,234", true],
  ["1.234 €", true],
  ["$1.234", true],
  ["1,234 %", true],
  ["12.50", true],
  ["03/01/2026", true],
  ["1.3.26", true],
])("%p stays a text; whether it looks like a value: %p", (text, looks) => {
  expect([typedValue(text), looksTyped(text)]).toEqual([undefined, looks]);
});

test.each<[string, string, boolean]>([
  ["2026-03-01", "d mmm", true],
  ["2026-03-01", "0.00 €", false],
  ["12 %", "0.0%", true],
  ["12 %", "#,##0.00 €", false],
  ["5 €", "0.00", true],
  ["5 €", "0%", false],
  ["5 €", "yyyy", false],
  ["5 €", '0 "days"', true],
])("whether %p can be shown as %p: %p", (text, format, isFit) => {
  const typed = typedValue(text);
  if (typed === undefined) throw new Error("no value");
  expect(suits(format, typed)).toBe(isFit);
});

test.each([
  ["0.00 EUR", '0.00 "EUR"'],
  ["#,##0 USD;[Red]-#,##0 USD", '#,##0 "USD";[Red]-#,##0 "USD"'],
  ['0.0 "kg"', '0.0 "kg"'],
  ["0 h", '0 "h"'],
  ["#,##0.00 zł", '#,##0.00 "zł"'],
  ["0.00E+00", "0.00E+00"],
  ["General", "General"],
  ["d mmm yyyy", "d mmm yyyy"],
  ["hh:mm:ss.000", "hh:mm:ss.000"],
  ["mmmm", "mmmm"],
  ["#,##0.00 €", "#,##0.00 €"],
  ["0\\x0", "0\\x0"],
])("the format %p is written as %p", (format, written) => {
  expect(quotedFormat(format)).toBe(written);
});
