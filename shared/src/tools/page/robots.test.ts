import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import type { Egress } from "../../machine/egress/egress.ts";
import { createRobots } from "./robots.ts";

const realNow = () => Bun.nanoseconds() / 1e6;
let passed = 0;
const clock = spyOn(performance, "now").mockImplementation(() => realNow() + passed);
afterEach(() => {
  passed = 0;
  clock.mockClear();
});
afterAll(() => clock.mockRestore());

/** Robots whose sites answer with this; `asked` has the addresses of the files that were read. */
function robotsWith(answer: { status: number; text: string }) {
  const asked: string[] = [];
  const fetch = async ({ url }: { url: string | URL }) => {
    asked.push(String(url));
    return { status: answer.status, body: Buffer.from(answer.text) };
  };
  const robots = createRobots({ fetch } as unknown as Egress);
  const admits = (url: string) =>
    robots.admit(new URL(url), new AbortController().signal).then(
      () => true,
      ({ code }: { code: string }) => code,
    );
  return { admits, asked };
}

const noPrivate = "User-agent: *\nDisallow: /private";

test.each<[number, string, boolean | string]>([
  [200, noPrivate, "forbidden"],
  [200, "User-agent: Manyhands\nDisallow: /private\n\nUser-agent: *\nDisallow:", "forbidden"],
  [200, "User-agent: Other\nDisallow: /", true],
  [200, "", true],
  [404, noPrivate, true],
  [403, noPrivate, true],
  [301, noPrivate, true],
  [500, "", "forbidden"],
  [503, "", "forbidden"],
])("with an answer of %i and the rules %j a private page is admitted: %p", async (status, text, admitted) => {
  expect(await robotsWith({ status, text }).admits("https://a.example/private/x")).toBe(admitted);
});

test("the rules themselves may be read, and what they do not name", async () => {
  const { admits, asked } = robotsWith({
    status: 200,
    text: "User-agent: *\nDisallow: /robots.txt\nDisallow: /private",
  });
  expect([await admits("https://a.example/robots.txt"), asked]).toEqual([true, []]);
  expect(await admits("https://a.example/public")).toBe(true);
});

test("the rules of a site are read once in an hour, those of a failing site once a minute", async () => {
  const answer = { status: 200, text: "" };
  const { admits, asked } = robotsWith(answer);
  for (const at of [0, 3_590_000]) {
    passed = at;
    await admits("https://a.example/1");
  }
  expect(asked).toEqual(["https://a.example/robots.txt"]);
  answer.status = 503;
  passed = 3_601_000;
  expect([await admits("https://a.example/1"), asked.length]).toEqual(["forbidden", 2]);
  answer.status = 200;
  passed += 50_000;
  expect([await admits("https://a.example/1"), asked.length]).toEqual(["forbidden", 2]);
  passed += 12_000;
  expect([await admits("https://a.example/1"), asked.length]).toEqual([true, 3]);
  await admits("https://b.example/1");
  await admits("https://a.example:8443/1");
  expect(asked.slice(3)).toEqual(["https://b.example/robots.txt", "https://a.example:8443/robots.txt"]);
});

test("the rules of five hundred sites are kept, and of one more the oldest is forgotten", async () => {
  const { admits, asked } = robotsWith({ status: 200, text: "" });
  for (let site = 0; site < 500; site++) await admits(`https://s${site}.example/`);
  await admits("https://s0.example/");
  expect(asked).toHaveLength(500);
  await admits("https://one-more.example/");
  await admits("https://s1.example/");
  expect(asked).toHaveLength(501);
  await admits("https://s0.example/");
  expect(asked).toHaveLength(502);
});
