import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow, type Flow } from "./flow.ts";

test("a flow's body and its check get the options as the schema parses them, defaults included", async () => {
  const seen: unknown[] = [];
  const flow = defineFlow({
    name: "twice",
    description: "Does it twice.",
    example: { text: "Go." },
    options: z.strictObject({ times: z.int().default(2) }),
    check({ options }) {
      seen.push(options);
      return options.times > 3 ? "times: too many" : undefined;
    },
    async perform(_, options) {
      seen.push(options);
      return { answer: "" };
    },
  });
  expect(flow.check?.({ options: {} })).toBeUndefined();
  expect(flow.check?.({ options: { times: 4 } })).toBe("times: too many");
  await flow.perform({} as Flow, {});
  expect(seen).toEqual([{ times: 2 }, { times: 4 }, { times: 2 }]);
  expect(() => flow.check?.({ options: { times: "x" } })).toThrow();
});

test("options that a caller could not leave out, or that no schema shows, are refused by name", () => {
  const flow = (options: unknown) => () =>
    defineFlow({
      ...{ name: "trip", description: "Plans.", example: { text: "Go." }, perform: async () => ({ answer: "" }) },
      options: options as z.ZodObject,
    });
  const two = z.strictObject({
    city: z.string(),
    day: z.strictObject({ name: z.string() }),
    nights: z.int().optional(),
  });
  expect(flow(two)).toThrow(
    "The flow trip needs options that may all be left out, as z.int().default(3) may: city, day. What a caller must give can be optional, and check say so if it is missing.",
  );
  const atOdds = z.strictObject({ nights: z.int().default(0) }).refine(({ nights }) => nights > 0, "too short");
  expect(flow(atOdds)).toThrow("as z.int().default(3) may: too short. What");
  expect(flow(z.strictObject({ when: z.date().default(new Date(0)) }))).toThrow(
    "The flow trip has options that are not",
  );
  expect(flow({ city: "text" })).toThrow("The flow trip needs a Zod object as its options");
});
