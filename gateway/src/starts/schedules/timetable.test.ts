import { expect, test } from "bun:test";
import { maxCounted, timetable } from "./timetable.ts";

const at = (iso: string) => Date.parse(iso);

function times(cron: string, zone: string, from: string, many: number): string[] {
  const table = timetable(cron, zone);
  const found: string[] = [];
  for (let time = table.next(at(from)); time !== undefined && found.length < many; time = table.next(time))
    found.push(new Date(time).toISOString().replace(":00.000Z", "Z"));
  return found;
}

test("a time that the clocks skip is due when they go forward, once", () => {
  const days = ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"];
  expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3)).toEqual(days);
});

test("a time that the clocks repeat is due the first time only", () => {
  const days = ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"];
  expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", 3)).toEqual(days);
});

test("every hour is every hour that passes, when the clocks change too", () => {
  const autumn = ["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"];
  expect(times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3)).toEqual(autumn);
  const spring = ["2026-03-29T00:00Z", "2026-03-29T01:00Z", "2026-03-29T02:00Z"];
  expect(times("@hourly", "Europe/Berlin", "2026-03-28T23:30:00Z", 3)).toEqual(spring);
});

test("what was due is its newest time and how many there were, counted no further than a bound", () => {
  const daily = timetable("0 8 * * *", "UTC");
  const from = at("2026-11-01T08:00:00Z");
  expect(daily.due(from, at("2026-11-02T07:59:59Z"))).toBeUndefined();
  expect(daily.due(from, at("2026-11-02T08:00:00Z"))).toEqual({ newest: at("2026-11-02T08:00:00Z"), count: 1 });
  expect(daily.due(from, at("2026-11-04T12:00:00Z"))).toEqual({ newest: at("2026-11-04T08:00:00Z"), count: 3 });
  const minutely = timetable("* * * * *", "UTC");
  const year = minutely.due(from, at("2027-11-01T00:00:30Z"));
  expect(year).toEqual({ newest: at("2027-11-01T00:00:00Z"), count: maxCounted });
  expect(minutely.due(from, at("2027-11-01T00:00:00Z"))?.newest).toBe(at("2027-11-01T00:00:00Z"));
});

test("a time that is not a cron expression, not in a time zone, or never due is refused with the reason", () => {
  expect(() => timetable("61 * * * *", "UTC")).toThrow(
    /cron: "61 \* \* \* \*" is not a cron expression of five fields/,
  );
  expect(() => timetable("* * * * * *", "UTC")).toThrow(/not a cron expression of five fields/);
  expect(() => timetable("0 8 * * *", "Europe/Atlantis")).toThrow(/timeZone: "Europe\/Atlantis" is not a time zone/);
  expect(() => timetable("0 0 31 2 *", "UTC")).toThrow(/names no time that ever comes/);
});
