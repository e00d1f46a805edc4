import { expect, test } from "bun:test";
import { until } from "../../testing/durable/until.ts";
import { Live } from "../live.ts";
import type { Listening } from "./connections.ts";
import type { Database } from "./database.ts";
import { type Changed, News } from "./news.ts";
import type { Followed } from "./shared-progress.ts";

/** News over a database that is there, or of which the first `refusals` connections fail. */
function newsForTest({ pollMs = 60_000, refusals = 0 } = {}) {
  const sent: (readonly [string, unknown])[] = [];
  const heard: Changed[] = [];
  const followed: Followed[] = [];
  const warned: string[] = [];
  const at = { listening: 0, left: 0, hear: (_: string): void => undefined, again: (): void => undefined };
  const database = {
    schema: "s",
    async listen({ channel, hear, onListening: again = () => undefined }: Listening) {
      if (at.listening++ < refusals) throw new Error("No connection.");
      expect(channel).toBe("manyhands_s");
      again();
      Object.assign(at, { hear, again });
      return async () => void at.left++;
    },
    async query(_: string, [channel = "", text = ""]: readonly string[]) {
      await Bun.sleep(1);
      sent.push([channel, JSON.parse(text)]);
    },
  } as unknown as Database;
  const live = new Live();
  const news = new News({
    ...{ database, live, pollMs },
    log: { warn: (_, message) => void warned.push(message), error: () => undefined },
    onNews: (changed) => void heard.push(changed),
    onFollowed: (one) => void followed.push(one),
  });
  return { news, live, sent, heard, followed, warned, at };
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`);

test("what is told at once goes out a hundred runs at a time, each with whether there is something to claim", async () => {
  const { news, sent } = newsForTest();
  for (const [n, id] of names(250).entries()) news.tell(id, { isClaimable: n === 3 });
  news.tell("r0");
  await until(() => sent.length === 3);
  expect(sent.map(([channel]) => channel)).toEqual(Array.from({ length: 3 }, () => "manyhands_s"));
  const messages = sent.map(([, message]) => message as Changed);
  expect(messages.map(({ runIds }) => runIds.length)).toEqual([100, 100, 50]);
  expect(messages.flatMap(({ runIds }) => runIds)).toEqual(names(250));
  expect(messages.every(({ isClaimable }) => isClaimable)).toBe(true);
  news.tell("later");
  await until(() => sent.length === 4);
  expect(sent[3]?.[1]).toEqual({ runIds: ["later"], isClaimable: false });
  news.freed();
  await until(() => sent.length === 5);
  expect(sent[4]?.[1]).toEqual({ runIds: [], isClaimable: true });
  await news.follows({ to: "channel", runIds: ["r"] });
  expect(sent[5]?.[1]).toEqual({ runIds: [], isClaimable: false, followed: { to: "channel", runIds: ["r"] } });
  await news.close();
});

test("what was told last is sent before the connections close, and nothing is told or heard after that", async () => {
  const { news, sent, heard, at } = newsForTest();
  await news.listen();
  const before = heard.length;
  news.tell("last", { isClaimable: true });
  await news.close();
  expect(sent).toEqual([["manyhands_s", { runIds: ["last"], isClaimable: true }]]);
  expect(at.left).toBe(1);
  news.tell("late");
  news.freed();
  await news.follows({ to: "channel", runIds: ["late"] });
  at.hear(JSON.stringify({ runIds: ["late"], isClaimable: true }));
  at.again();
  await Bun.sleep(20);
  expect([sent.length, heard.length]).toEqual([1, before]);
});

test("news wakes the followers of its runs alone; a connection that is new may have missed some of any", async () => {
  const { news, live, heard, followed, at } = newsForTest();
  const woken: string[] = [];
  const stop = new AbortController();
  const followers = ["r", "other"].map((id) => {
    const follower = live.follow(id);
    void (async () => {
      while (await follower.news(stop.signal)) woken.push(id);
    })();
    return follower;
  });
  await news.listen();
  await until(() => woken.length === 2);
  expect(heard).toEqual([{ runIds: "any", isClaimable: true }]);
  at.hear(JSON.stringify({ runIds: ["r"], isClaimable: false }));
  await until(() => woken.length > 2);
  expect([heard[1], woken.slice(2)]).toEqual([{ runIds: ["r"], isClaimable: false }, ["r"]]);
  at.hear(JSON.stringify({ runIds: [], isClaimable: false, followed: { to: "channel", runIds: ["r"] } }));
  expect([heard.length, followed]).toEqual([2, [{ to: "channel", runIds: ["r"] }]]);
  at.again();
  await until(() => woken.length === 5);
  expect(heard[2]).toEqual({ runIds: "any", isClaimable: true });
  // What a step shows counts until its end is told.
  news.tell("r", { last: 3 });
  followers[0]?.show({ type: "shown" }, 2);
  followers[0]?.show({ type: "shown" }, 3);
  expect(followers[0]?.takeProgress(9)).toHaveLength(1);
  stop.abort();
  await news.close();
});

test.each(["junk", "", "null", '{"runIds":5}', '{"runIds":["r"],"isClaimable":true,"followed":{}}'])(
  "%j, which is no news of this release, may be of any run",
  async (text) => {
    const { news, heard, followed, at } = newsForTest();
    await news.listen();
    at.hear(text);
    expect([heard.slice(1), followed]).toEqual([[{ runIds: "any", isClaimable: true }], []]);
    await news.close();
  },
);

test("without a connection a process says so, looks for itself, and asks for one again", async () => {
  const { news, heard, warned, at } = newsForTest({ pollMs: 5, refusals: 1 });
  await news.listen();
  expect(warned).toHaveLength(1);
  await until(() => heard.length > 2);
  expect(heard[0]).toEqual({ runIds: "any", isClaimable: true });
  await Promise.all([news.listen(), news.listen()]);
  expect([at.listening, warned.length]).toEqual([2, 1]);
  await news.close();
  const { length } = heard;
  await Bun.sleep(20);
  expect(heard).toHaveLength(length);
});
