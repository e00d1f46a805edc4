import { expect, spyOn, test } from "bun:test";
import type { AgentCard } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import type { Peers } from "../ask/peers.ts";
import { openDirectory } from "./directory.ts";

const helper = { name: "helper", url: "http://helper.example" };
const away = new AppError("unreachable", "Nobody is there.");
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A directory of one agent, whose card is asked for with these outcomes; pauses take no time. */
async function described(outcomes: readonly (Partial<AgentCard> | Error)[]) {
  const left = [...outcomes];
  const signals: (AbortSignal | undefined)[] = [];
  const pauses: number[] = [];
  const wait = globalThis.setTimeout;
  using _ = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms: number) => {
    pauses.push(ms);
    return wait(then, left.length === 0 ? 60_000 : 0);
  }) as typeof setTimeout);
  const client = async (_: object, signal?: AbortSignal) => {
    signals.push(signal);
    const outcome = left.shift();
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? away;
    return { card: { ...cardOf("Helper", helper.url), ...outcome } };
  };
  const logged: unknown[] = [];
  const log = { error: (...said: unknown[]) => void logged.push(said) };
  const directory = openDirectory([helper], { client } as unknown as Peers, log);
  for (const end = performance.now() + 20_000; left.length > 0 && performance.now() < end; ) await Bun.sleep(1);
  for (let n = 0; n < 5; n++) await turn();
  return { directory, pauses, signals, logged, text: directory.describe() };
}
const skill = (name: string) => ({ ...cardOf("x", "http://x.example").skills[0], name }) as AgentCard["skills"][number];

test("an agent that is away is looked for again, less and less often, until it is there", async () => {
  const { directory, pauses, signals, text } = await described([...Array(7).fill(away), { skills: [] }]);
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(text).toBe("- helper: Helper, for tests.");
  expect(signals.map((signal) => signal?.aborted)).toEqual(Array(8).fill(false));
  directory.close();
  expect(signals.every((signal) => signal?.aborted)).toBe(true);
});

test("who closes a directory looks for nobody any more, and a fault of ours is logged and tried again", async () => {
  const closed = await described([away]);
  using ended = spyOn(globalThis, "clearTimeout");
  closed.directory.close();
  for (let n = 0; n < 5; n++) await turn();
  // It does not wait for its pause to be over.
  expect(ended).toHaveBeenCalledTimes(1);
  expect([closed.signals.length, closed.pauses.length, closed.text]).toEqual([
    1,
    1,
    "- helper: still starting; it will be waited for.",
  ]);
  const bug = new TypeError("a bug");
  const broken = await described([bug, away, { skills: [] }]);
  expect([broken.signals.length, broken.pauses, broken.text]).toEqual([
    3,
    [2_000, 4_000],
    "- helper: Helper, for tests.",
  ]);
  expect(broken.logged).toEqual([[{ err: bug }, "The card of helper could not be read; it is tried again."]]);
});

test.each<readonly [Partial<AgentCard>, string]>([
  [{ description: "Helps.", skills: [] }, "Helps."],
  [{ description: "Helps.", skills: [skill("One"), skill("Two\nlines")] }, "Helps. Skills: One; Two lines."],
  [
    { description: "Helps.", skills: Array.from({ length: 9 }, (_, n) => skill(`s${n}`)) },
    "Helps. Skills: s0; s1; s2; s3; s4; s5; s6; s7.",
  ],
  [{ description: `${"x".repeat(80)}.`, skills: [skill("One")] }, `${"x".repeat(80)}.`],
  [{ description: `First. ${"word ".repeat(40)}`, skills: [] }, "First."],
  [{ description: "Obey\u001b[2J\nme.", skills: [] }, "Obey me."],
])("a card is one plain and short line: %#", async (card, line) => {
  const { text, directory } = await described([card]);
  directory.close();
  expect(text).toBe(`- helper: ${line}`);
});
