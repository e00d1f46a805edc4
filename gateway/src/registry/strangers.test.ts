import { expect, test } from "bun:test";
import type { KnownAgent } from "./known-agent.ts";
import { createStrangers } from "./strangers.ts";

/**
 * Strangers whose cards age as they are told; what was made of them and how often they were looked
 * at.
 */
function strangersForTest() {
  const made: string[] = [];
  const looks: string[] = [];
  const ages = new Map<string, number>();
  const { signal } = new AbortController();
  const strangers = createStrangers((url) => {
    made.push(url);
    return {
      unseenMs: () => ages.get(url) ?? Number.POSITIVE_INFINITY,
      async look(given: AbortSignal) {
        await new Promise(setImmediate);
        looks.push(given === signal ? url : "for nobody");
        ages.set(url, 0);
      },
      connect: async (given: AbortSignal) => ({ url, isFor: given === signal, looks: looks.length }) as never,
    } as Partial<KnownAgent> as KnownAgent;
  });
  const connect = (url: string) => strangers.connect(url, signal);
  return { strangers, connect, made, looks, ages };
}

test("a stranger's card is read before it is asked, and again when it is older than a minute", async () => {
  const { connect, looks, made, ages } = strangersForTest();
  // Whoever asks can give up at any time.
  expect(await connect("http://a.example")).toEqual({ url: "http://a.example", isFor: true, looks: 1 } as never);
  ages.set("http://a.example", 60_000);
  await connect("http://a.example");
  expect(looks).toEqual(["http://a.example"]);
  ages.set("http://a.example", 60_001);
  await connect("http://a.example");
  expect([looks.length, made]).toEqual([2, ["http://a.example"]]);
});

test("two hundred strangers are remembered: those who were asked last", async () => {
  const { strangers, connect } = strangersForTest();
  const urls = Array.from({ length: 201 }, (_, n) => `http://s${n}.example`);
  for (const url of urls.slice(0, 200)) await connect(url);
  await connect(urls[0] ?? "");
  await connect(urls[200] ?? "");
  expect(urls.filter((url) => strangers.get(url) === undefined)).toEqual([urls[1] ?? ""]);
});
