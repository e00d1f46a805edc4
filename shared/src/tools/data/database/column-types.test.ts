import { expect, test } from "bun:test";
import { isNumberType, isTimeType } from "./column-types.ts";

const numbers =
  "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL DECIMAL(18,3)".split(
    " ",
  );
const times = ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"];

test("a type of numbers or of times is one, and a list or a structure of them is none", () => {
  expect([numbers.filter((type) => !isNumberType(type)), numbers.filter(isTimeType)]).toEqual([[], []]);
  expect([times.filter((type) => !isTimeType(type)), times.filter(isNumberType)]).toEqual([[], []]);
  const others = [...numbers, ...times].flatMap((type) => [
    `${type}[]`,
    `${type}[3]`,
    `MAP(${type}, ${type})`,
    `STRUCT(a ${type})`,
  ]);
  for (const type of [...others, "VARCHAR", "BOOLEAN", "TIME", "INTERVAL", "BLOB", "JSON"])
    expect([type, isNumberType(type), isTimeType(type)]).toEqual([type, false, false]);
});
