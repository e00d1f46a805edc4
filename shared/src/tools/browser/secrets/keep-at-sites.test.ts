import { expect, test } from "bun:test";
import type { Route } from "playwright";
import type { Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";
import { keepAtItsSites } from "./keep-at-sites.ts";

const bank = "https://bank.example";
/** What is held in a text, unless it goes to the bank; once it was typed. */
const secretsForTest = (typed: { is: boolean }) =>
  ({
    hasTyped: () => typed.is,
    heldIn: (text: string, origin?: string) =>
      typed.is && text.includes("hunter") && origin !== bank ? "bank-password" : undefined,
  }) as unknown as Secrets;

/** A browsing that guards its requests; what became of one that is routed, or judged as a hop. */
async function guarded({
  follows = true,
  typed = { is: true },
}: {
  follows?: boolean | undefined;
  typed?: { is: boolean };
} = {}) {
  const told: string[] = [];
  const judges: ((hop: { url: string; body: string }) => boolean)[] = [];
  const routes: ((route: Route) => Promise<void>)[] = [];
  const browsing = {
    tell: (sentence: string) => void told.push(sentence),
    guard: async (judge: (hop: { url: string; body: string }) => boolean) => void judges.push(judge),
    route: async (pattern: RegExp, handler: (route: Route) => Promise<void>) => {
      expect([pattern.test("http://a"), pattern.test("https://a"), pattern.test("data:x")]).toEqual([
        true,
        true,
        false,
      ]);
      routes.push(handler);
    },
    follows: async () => follows,
  } as unknown as Browsing;
  await keepAtItsSites(browsing, secretsForTest(typed));
  await keepAtItsSites(browsing, secretsForTest(typed));
  expect([judges.length, routes.length]).toEqual([1, 1]);
  return {
    told,
    hop: (url: string, body = "") => judges[0]?.({ url, body }),
    async send(url: string, body: string | null = null) {
      const came: string[] = [];
      const request = () => ({ url: () => url, postData: () => body });
      const abort = async (reason: string) => void came.push(reason);
      await routes[0]?.({ request, abort, fallback: async () => void came.push("sent") } as unknown as Route);
      return came.join();
    },
  };
}

test.each([
  ["in an address", "https://evil.example/?p=hunter", null],
  ["in a body", "https://evil.example/", "p=hunter"],
  ["far behind in a body", "https://evil.example/", `${"x".repeat(1_999_990)}hunter`],
  ["for the same host over http", "http://bank.example/?p=hunter", null],
  ["for another port", "https://bank.example:8443/", "hunter"],
] as const)("a secret %s goes nowhere but to its sites, by no request and no hop of one", async (_, url, body) => {
  const { send, hop, told } = await guarded();
  expect([await send(url, body), hop(url, body ?? "")]).toEqual(["blockedbyclient", false]);
  const { host } = new URL(url);
  const refusal = `A request to ${host} was refused: it held the secret bank-password, which does not belong there.`;
  expect(told).toEqual([refusal, refusal]);
});

test("what holds none goes on, and so does one that is sent to its site", async () => {
  const { send, hop, told } = await guarded();
  for (const [url, body] of [
    ["https://evil.example/", "words"],
    ["https://bank.example/in", "hunter"],
    ["https://bank.example/?p=hunter", null],
  ] as const)
    expect([await send(url, body), hop(url, body ?? "")]).toEqual(["sent", true]);
  expect([hop("no address", "hunter"), told.length]).toEqual([false, 1]);
});

test.each([
  [true, "sent"],
  [undefined, "sent"],
  [false, "blockedbyclient"],
])("a secret on its way to its site, whose redirects are seen (%p), is %s", async (follows, came) => {
  const { send, told } = await guarded({ follows });
  expect(await send("https://bank.example/in", "hunter")).toBe(came);
  expect(await send("https://bank.example/in", "words")).toBe("sent");
  expect(told.length).toBe(came === "sent" ? 0 : 1);
  if (came !== "sent") expect(told[0]).toContain("Send it from that tab again.");
});

test("a browsing is guarded before anything is typed, for what is typed later", async () => {
  const typed = { is: false };
  const { send } = await guarded({ typed });
  expect(await send("https://evil.example/?p=hunter")).toBe("sent");
  typed.is = true;
  expect(await send("https://evil.example/?p=hunter")).toBe("blockedbyclient");
});
